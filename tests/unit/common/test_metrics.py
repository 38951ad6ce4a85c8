"""Metrics: each is there from the start, counts what it says, and tells nothing that is hidden."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from bots_sdk.rules.phases import SEALED_PHASES, Phase
from services.common.clock import ManualClock
from services.common.errors import Reason, SetupError
from services.common.families import Family, Histogram, Kind
from services.common.matches import Ending
from services.common.metrics import (
    GROUPS,
    HOLD_BACK,
    BuildMetrics,
    LedgerMetrics,
    LobbyMetrics,
    MatchMetrics,
    MetricGroup,
    TournamentMetrics,
    make_registry,
)
from services.common.scraping import serve_metrics
from services.common.targets import Role

FAMILIES = sorted({family for groups in GROUPS.values() for group in groups for family in group.families}, key=str)


def _make_groups(role: Role) -> list[MetricGroup]:
    return [group() for group in GROUPS[role] if group is not BuildMetrics]


def _read(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


@pytest.mark.parametrize("role", Role)
def test_every_metric_of_a_role_is_there_from_the_start(role: Role) -> None:
    text = generate_latest(make_registry(role, *_make_groups(role))).decode()
    found = {metric.name: metric for metric in text_string_to_metric_families(text)}
    ours = [family for group in GROUPS[role] for family in group.families]
    assert {name for name in found if name.startswith("baohuang_")} == {_scraped_name(family) for family in ours}
    for family in ours:
        metric = found[_scraped_name(family)]
        assert (metric.type, metric.documentation) == (family.kind, family.sentence)
        if family.label:
            assert {sample.labels[family.label] for sample in metric.samples} == set(family.values)
        if role is not Role.GATEWAY or family.name != "baohuang_build_info":
            assert metric.samples
    assert "process_resident_memory_bytes" in found


def _scraped_name(family: Family) -> str:
    return family.name.removesuffix("_total")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_names_are_of_one_form_and_labels_are_bounded(family: Family) -> None:
    assert re.fullmatch(r"baohuang(_[a-z]+){2,}", family.name)
    assert family.name.endswith("_total") == (family.kind is Kind.COUNTER)
    assert family.name.endswith("_seconds") >= (family.kind is Kind.HISTOGRAM)
    assert bool(family.label) == bool(family.values)
    assert len(family.values) <= len(Reason)
    assert family.sentence.endswith(".")


def test_build_info_says_what_runs() -> None:
    (metric,) = BuildMetrics(Role.DIRECTOR).collect()
    (sample,) = metric.samples
    assert (sample.value, sample.labels["role"], sample.labels["protocol"]) == (1, "director", "1")


def test_a_match_service_counts_what_it_says() -> None:
    metrics = MatchMetrics()
    registry = make_registry(Role.MATCH_SERVICE, metrics)
    metrics.timeouts += 2
    metrics.illegal_answers += 3
    metrics.late_answers += 4
    metrics.reconnects += 5
    metrics.events_sent += 6
    metrics.messages_sent += 47
    metrics.messages_received += 19
    metrics.tables_live = 9
    metrics.sessions_live = 10
    metrics.matches_waiting = 11
    metrics.match_ended(Ending.VOID)
    metrics.refused(Reason.TICKET_INVALID)
    assert _read(registry, "baohuang_decisions_timeouts_total") == 2
    assert _read(registry, "baohuang_decisions_illegal_total") == 3
    assert _read(registry, "baohuang_decisions_late_total") == 4
    assert _read(registry, "baohuang_sessions_reconnects_total") == 5
    assert _read(registry, "baohuang_events_sent_total") == 6
    assert _read(registry, "baohuang_messages_sent_total") == 40, "whole lots of 20, so that no single answer shows"
    assert _read(registry, "baohuang_messages_received_total") == 0
    assert _read(registry, "baohuang_tables_live") == 9
    assert _read(registry, "baohuang_sessions_live") == 10
    assert _read(registry, "baohuang_matches_held", state="waiting") == 11
    assert _read(registry, "baohuang_matches_held", state="playing") == 9
    assert _read(registry, "baohuang_matches_ended_total", outcome="void") == 1
    assert _read(registry, "baohuang_matches_ended_total", outcome="completed") == 0
    assert _read(registry, "baohuang_calls_refused_total", reason="ticket_invalid") == 1


def test_decisions_of_open_phases_appear_at_once() -> None:
    metrics = MatchMetrics()
    registry = make_registry(Role.MATCH_SERVICE, metrics)
    for seconds in (0.001, 0.0011, 40.0):
        metrics.decided(Phase.PLAY, seconds)
    name = "baohuang_decisions_latency_seconds"
    assert _read(registry, f"{name}_bucket", kind="play", le="0.001") == 1, "a bound belongs to its bucket"
    assert _read(registry, f"{name}_bucket", kind="play", le="0.002") == 2
    assert _read(registry, f"{name}_bucket", kind="play", le="30.0") == 2
    assert _read(registry, f"{name}_bucket", kind="play", le="+Inf") == 3
    assert _read(registry, f"{name}_count", kind="play") == 3
    assert _read(registry, f"{name}_sum", kind="play") == pytest.approx(40.0021)
    assert _read(registry, "baohuang_decisions_made_total", kind="play") == 3
    assert _read(registry, "baohuang_decisions_made_total", kind="call") == 0


@pytest.mark.parametrize("kind", sorted(SEALED_PHASES))
def test_how_long_a_seat_thought_before_a_sealed_answer_cannot_be_read(kind: Phase) -> None:
    metrics = MatchMetrics()
    registry = make_registry(Role.MATCH_SERVICE, metrics)

    def exposed() -> list[str]:
        return [line for line in generate_latest(registry).decode().splitlines() if "baohuang_decisions" in line]

    before = exposed()
    for _ in range(HOLD_BACK - 1):
        metrics.decided(kind, 1.5)
        assert exposed() == before
    metrics.decided(kind, 1.5)
    assert _read(registry, "baohuang_decisions_made_total", kind=kind.name.lower()) == HOLD_BACK
    assert _read(registry, "baohuang_decisions_latency_seconds_sum", kind=kind.name.lower()) == 1.5 * HOLD_BACK
    after = exposed()
    metrics.decided(kind, 9.0)
    assert exposed() == after, "and the next ones are held back again"


def test_no_phase_without_decisions_is_counted() -> None:
    with pytest.raises(KeyError):
        MatchMetrics().decided(Phase.ENDED, 0.1)


def test_the_largest_lag_is_forgotten_after_two_windows() -> None:
    clock = ManualClock()
    metrics = MatchMetrics(clock)
    registry = make_registry(Role.MATCH_SERVICE, metrics)
    name = "baohuang_loop_lag_max_seconds"
    metrics.loop_lag(0.3)
    clock.advance(61)
    metrics.loop_lag(0.1)
    assert _read(registry, name) == 0.3
    clock.advance(61)
    assert _read(registry, name) == 0.1
    clock.advance(200)
    assert _read(registry, name) == 0.0
    assert _read(registry, "baohuang_loop_lag_seconds_count") == 2


def test_a_director_counts_what_it_says() -> None:
    metrics, ledger = TournamentMetrics(), LedgerMetrics()
    registry = make_registry(Role.DIRECTOR, metrics, ledger)
    metrics.running = True
    metrics.matches_scheduled, metrics.matches_done, metrics.matches_in_flight = 30, 20, 4
    metrics.attempt_ended(Ending.COMPLETED, deals=6)
    metrics.attempt_ended(Ending.VOID, deals=3)
    ledger.wrote(rows=7, seconds=0.004)
    ledger.failures += 1
    assert _read(registry, "baohuang_tournament_running") == 1
    assert _read(registry, "baohuang_tournament_matches_scheduled") == 30
    assert _read(registry, "baohuang_tournament_matches_done") == 20
    assert _read(registry, "baohuang_tournament_matches_in_flight") == 4
    assert _read(registry, "baohuang_tournament_deals_total") == 6, "deals of a void attempt do not count"
    assert _read(registry, "baohuang_tournament_attempts_total", outcome="void") == 1
    assert _read(registry, "baohuang_ledger_writes_total") == 1
    assert _read(registry, "baohuang_ledger_failures_total") == 1
    assert _read(registry, "baohuang_ledger_rows_total") == 7
    assert _read(registry, "baohuang_ledger_write_seconds_bucket", le="0.005") == 1


def test_a_gateway_counts_what_it_says() -> None:
    metrics = LobbyMetrics()
    registry = make_registry(Role.GATEWAY, metrics)
    metrics.bots_attending = 6
    metrics.registrations += 7
    metrics.tickets_issued += 12
    metrics.refused(Reason.NAME_TAKEN)
    assert _read(registry, "baohuang_bots_attending") == 6
    assert _read(registry, "baohuang_bots_registered_total") == 7
    assert _read(registry, "baohuang_tickets_issued_total") == 12
    assert _read(registry, "baohuang_calls_refused_total", reason="name_taken") == 1


def test_moving_a_histogram_loses_nothing() -> None:
    one, other = Histogram((1, 2)), Histogram((1, 2))
    for value in (0.5, 1.5, 9):
        one.observe(value)
        other.observe(value)
    one.move_to(other)
    assert (one.counts, one.total) == ([0, 0, 0], 0.0)
    assert (other.counts, other.total) == ([2, 2, 2], 22.0)
    assert other.buckets() == [("1.0", 2), ("2.0", 4), ("+Inf", 6)]


@pytest.fixture
def address() -> Iterator[str]:
    server = serve_metrics(make_registry(Role.GATEWAY, LobbyMetrics()), "127.0.0.1")
    yield server.address
    server.close()


def test_metrics_are_served_over_http(address: str) -> None:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as response:
        assert b"baohuang_bots_attending 0.0" in response.read()


def test_a_taken_port_is_one_sentence(address: str) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(SetupError) as caught:
        serve_metrics(make_registry(Role.DIRECTOR), "127.0.0.1", port)
    assert str(caught.value) == (
        f"Metrics cannot be served at {address} (Address already in use): choose another host or port."
    )


def test_others_are_told_the_host_by_which_they_can_come() -> None:
    server = serve_metrics(make_registry(Role.DIRECTOR), "127.0.0.1", reachable_host="arena.example.org")
    server.close()
    assert re.fullmatch(r"arena\.example\.org:\d+", server.address)
