"""Every metric of the platform, what it means, and who counts it.

One object per process and subject: `MatchMetrics` in a match service, `TournamentMetrics` in a director, `LobbyMetrics`
in the gateway, `LedgerMetrics` wherever the ledger is written, `TlsMetrics` in each of them. The owner adds to plain
attributes or calls a method; scraping reads them. Labels come from enums only, and every value is there from the start:
zero instead of nothing.

Nothing here tells one table, match or bot from another, and nothing tells what is hidden in a deal (see `HOLD_BACK`).
`docs/metrics.md` is made from this module.
"""

from __future__ import annotations

import platform
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from bots_sdk.rules.phases import SEALED_PHASES, Phase
from services.common.clock import Clock, SystemClock
from services.common.errors import Reason
from services.common.families import Family, Histogram, Kind
from services.common.matches import Ending
from services.common.targets import Role
from services.common.version import PROTOCOL_VERSION, RULES_VERSION, SERVER_VERSION

DECISION_KINDS = tuple(phase for phase in Phase if phase not in (Phase.ENDED, Phase.VOIDED))
"""The phases in which seats decide."""

HOLD_BACK = 20
"""Decisions of sealed phases appear so many at a time. How long a seat thinks before a sealed answer is nobody's
business (docs/rules.md, "What becomes known"), and with a single table live the sum of a histogram would tell."""

LATENCY_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
LAG_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
WRITE_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
"""Upper bounds of the buckets, seconds."""

LAG_WINDOW = 60.0
"""Seconds; the largest lag shown is that of the last one to two windows."""


def _names(members: Iterable[Phase | Reason]) -> tuple[str, ...]:
    return tuple(member.name.lower() for member in members)


_KINDS = _names(DECISION_KINDS)
_REASONS = _names(Reason)
_ENDINGS = tuple(ending.value for ending in Ending)

BUILD = Family(
    "baohuang_build_info",
    Kind.GAUGE,
    "Always 1; the labels say what runs: version, protocol, rules, python, role.",
)
DECISIONS = Family(
    "baohuang_decisions_made_total",
    Kind.COUNTER,
    f"Answers of remote bots that came in time and were legal; of sealed phases {HOLD_BACK} at a time.",
    "kind",
    _KINDS,
)
LATENCY = Family(
    "baohuang_decisions_latency_seconds",
    Kind.HISTOGRAM,
    "From writing a request to reading its answer, less what the service itself was late; "
    f"of sealed phases {HOLD_BACK} at a time.",
    "kind",
    _KINDS,
)
TIMEOUTS = Family("baohuang_decisions_timeouts_total", Kind.COUNTER, "Requests without an answer in time.")
ILLEGAL = Family("baohuang_decisions_illegal_total", Kind.COUNTER, "Answers that the rules refused.")
LATE = Family("baohuang_decisions_late_total", Kind.COUNTER, "Answers to requests that were closed already; dropped.")
RECONNECTS = Family("baohuang_sessions_reconnects_total", Kind.COUNTER, "Streams of bots that had been here before.")
SESSIONS = Family("baohuang_sessions_live", Kind.GAUGE, "Bots with a stream to this match service.")
EVENTS = Family("baohuang_events_sent_total", Kind.COUNTER, "Events given to streams, once for each seat.")
SENT = Family(
    "baohuang_messages_sent_total",
    Kind.COUNTER,
    f"Messages written to streams; each holds many records; shown {HOLD_BACK} at a time.",
)
RECEIVED = Family(
    "baohuang_messages_received_total", Kind.COUNTER, f"Messages read from streams; shown {HOLD_BACK} at a time."
)
TABLES = Family("baohuang_tables_live", Kind.GAUGE, "Tables at which a match is being played.")
HELD = Family(
    "baohuang_matches_held",
    Kind.GAUGE,
    "Matches this match service has, by state: waiting for bots with a free table, playing.",
    "state",
    ("waiting", "playing"),
)
ENDED = Family(
    "baohuang_matches_ended_total", Kind.COUNTER, "Attempts at matches that ended here.", "outcome", _ENDINGS
)
LAG = Family("baohuang_loop_lag_seconds", Kind.HISTOGRAM, "How much later than planned the event loop came round.")
LAG_MAX = Family(
    "baohuang_loop_lag_max_seconds", Kind.GAUGE, "The largest lag of the event loop in the last one to two minutes."
)
REFUSED = Family(
    "baohuang_calls_refused_total",
    Kind.COUNTER,
    "Calls and streams refused, by reason (docs/errors.md).",
    "reason",
    _REASONS,
)
ATTENDING = Family("baohuang_bots_attending", Kind.GAUGE, "Bots that attend at the lobby.")
REGISTERED = Family("baohuang_bots_registered_total", Kind.COUNTER, "Bots registered since this process started.")
TICKETS = Family("baohuang_tickets_issued_total", Kind.COUNTER, "Tickets given to bots.")
STRANGERS = Family(
    "baohuang_authentications_failed_total", Kind.COUNTER, "Tokens shown, over gRPC or HTTP, that were nobody's."
)
RUNNING = Family(
    "baohuang_tournament_running", Kind.GAUGE, "1 while matches are to be played; 0 when waiting, paused or finished."
)
SCHEDULED = Family("baohuang_tournament_matches_scheduled", Kind.GAUGE, "Matches of the schedule.")
DONE = Family("baohuang_tournament_matches_done", Kind.GAUGE, "Scheduled matches with a result in the ledger.")
IN_FLIGHT = Family("baohuang_tournament_matches_in_flight", Kind.GAUGE, "Matches handed out and not yet back.")
DEALS = Family("baohuang_tournament_deals_total", Kind.COUNTER, "Deals in results since this director started.")
ATTEMPTS = Family(
    "baohuang_tournament_attempts_total",
    Kind.COUNTER,
    "Attempts that came back; void and no_show ones are played again.",
    "outcome",
    _ENDINGS,
)
EXCLUDED = Family(
    "baohuang_tournament_bots_excluded", Kind.GAUGE, "Entrants that play no more, by an operator or benched."
)
BENCHED = Family(
    "baohuang_tournament_bots_benched_total",
    Kind.COUNTER,
    "Entrants that this director took out because they failed or did not turn up too often.",
)
WRITES = Family("baohuang_ledger_writes_total", Kind.COUNTER, "Transactions written to the ledger.")
FAILURES = Family("baohuang_ledger_failures_total", Kind.COUNTER, "Transactions that the ledger refused.")
ROWS = Family("baohuang_ledger_rows_total", Kind.COUNTER, "Rows written to the ledger: attempts, bots, tournaments.")
WRITE_TIME = Family(
    "baohuang_ledger_write_seconds", Kind.HISTOGRAM, "How long a transaction took, waiting for other writers included."
)
CERTIFICATE_BEGINS = Family(
    "baohuang_tls_certificate_begins_timestamp_seconds",
    Kind.GAUGE,
    "From when the certificate is good that new connections are shown, in seconds since 1970; 0 without TLS.",
)
CERTIFICATE_ENDS = Family(
    "baohuang_tls_certificate_ends_timestamp_seconds",
    Kind.GAUGE,
    "When the certificate ends that new connections are shown, in seconds since 1970; 0 without TLS.",
)
LISTS_DUE = Family(
    "baohuang_tls_client_crl_due_timestamp_seconds",
    Kind.GAUGE,
    "When a newer list of revoked certificates is to be in place, in seconds since 1970; 0 without lists.",
)
FILES_REFUSED = Family(
    "baohuang_tls_files_refused",
    Kind.GAUGE,
    "1 while the files of TLS cannot be used as they are and those from before go on; why is in the log.",
)
RENEWALS = Family("baohuang_tls_renewals_total", Kind.COUNTER, "Renewed files of TLS taken since this process started.")


class MetricGroup(Collector):
    """Metrics of one subject; `families` are all that `collect` gives, in this order."""

    families: ClassVar[tuple[Family, ...]]

    def describe(self) -> Iterable[Metric]:
        """What will be collected, without numbers."""
        return [Metric(family.name.removesuffix("_total"), family.sentence, family.kind) for family in self.families]


class BuildMetrics(MetricGroup):
    """What runs in this process."""

    families = (BUILD,)

    def __init__(self, role: Role) -> None:
        self._labels = {
            "version": SERVER_VERSION,
            "protocol": str(PROTOCOL_VERSION),
            "rules": RULES_VERSION,
            "python": platform.python_version(),
            "role": role.value,
        }

    def collect(self) -> Iterator[Metric]:
        metric = BUILD.numbers({})
        metric.add_sample(BUILD.name, self._labels, 1)
        yield metric


class MatchMetrics(MetricGroup):
    """What a match service counts. Add to the counters and set the gauges directly; all methods are cheap."""

    families = (
        DECISIONS, LATENCY, TIMEOUTS, ILLEGAL, LATE, RECONNECTS, SESSIONS, EVENTS, SENT, RECEIVED, TABLES, HELD, ENDED,
        LAG, LAG_MAX, REFUSED,
    )  # fmt: skip

    def __init__(self, clock: Clock | None = None) -> None:
        self.timeouts = 0
        self.illegal_answers = 0
        self.late_answers = 0
        self.reconnects = 0
        self.events_sent = 0
        self.messages_sent = 0
        self.messages_received = 0
        self.tables_live = 0
        self.sessions_live = 0
        self.matches_waiting = 0
        self._latency = {int(kind): Histogram(LATENCY_BOUNDS) for kind in DECISION_KINDS}
        self._observed = self._latency | {int(kind): Histogram(LATENCY_BOUNDS) for kind in SEALED_PHASES}
        self._ended = dict.fromkeys(_ENDINGS, 0)
        self._refused = dict.fromkeys(_REASONS, 0)
        self._lag = Histogram(LAG_BOUNDS)
        self._largest_lag = _LargestOfLate(clock or SystemClock())

    def decided(self, kind: int, seconds: float) -> None:
        """A legal answer came in time: the `Phase` it was asked in, and how long it took."""
        histogram = self._observed[kind]
        histogram.counts[bisect_left(LATENCY_BOUNDS, seconds)] += 1  # not `observe`: this is the hot path
        histogram.total += seconds
        if kind in SEALED_PHASES and sum(histogram.counts) >= HOLD_BACK:
            histogram.move_to(self._latency[kind])

    def match_ended(self, ending: Ending) -> None:
        """An attempt ended, and how."""
        self._ended[ending.value] += 1

    def loop_lag(self, seconds: float) -> None:
        """The event loop came round so much later than planned."""
        self._lag.observe(seconds)
        self._largest_lag.observe(seconds)

    def refused(self, reason: Reason) -> None:
        """A stream was refused."""
        self._refused[reason.name.lower()] += 1

    def collect(self) -> Iterator[Metric]:
        latency = {kind.name.lower(): self._latency[kind] for kind in DECISION_KINDS}
        yield DECISIONS.numbers({kind: sum(histogram.counts) for kind, histogram in latency.items()})
        yield LATENCY.histograms(latency)
        yield TIMEOUTS.number(self.timeouts)
        yield ILLEGAL.number(self.illegal_answers)
        yield LATE.number(self.late_answers)
        yield RECONNECTS.number(self.reconnects)
        yield SESSIONS.number(self.sessions_live)
        yield EVENTS.number(self.events_sent)
        yield SENT.number(_held_back(self.messages_sent))
        yield RECEIVED.number(_held_back(self.messages_received))
        yield TABLES.number(self.tables_live)
        yield HELD.numbers({"waiting": self.matches_waiting, "playing": self.tables_live})
        yield ENDED.numbers(self._ended)
        yield LAG.histograms({"": self._lag})
        yield LAG_MAX.number(self._largest_lag.value)
        yield REFUSED.numbers(self._refused)


def _held_back(count: int) -> int:
    """Whole lots only: with a single table live, one message more would tell that somebody has answered in secret."""
    return count - count % HOLD_BACK


class _LargestOfLate:
    """The largest value of the current window of time and of the one before."""

    __slots__ = ("_before", "_clock", "_current", "_until")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._current = self._before = 0.0
        self._until = clock.monotonic() + LAG_WINDOW

    def observe(self, value: float) -> None:
        self._turn()
        self._current = max(self._current, value)

    @property
    def value(self) -> float:
        self._turn()
        return max(self._current, self._before)

    def _turn(self) -> None:
        now = self._clock.monotonic()
        if now >= self._until:
            self._before = self._current if now < self._until + LAG_WINDOW else 0.0
            self._current = 0.0
            self._until = now + LAG_WINDOW


class TournamentMetrics(MetricGroup):
    """What a director counts for its one tournament; which one it is, service discovery says."""

    families = (RUNNING, SCHEDULED, DONE, IN_FLIGHT, DEALS, ATTEMPTS, EXCLUDED, BENCHED)

    def __init__(self) -> None:
        self.running = False
        self.bots_excluded = 0
        self.bots_benched = 0
        self.matches_scheduled = 0
        self.matches_done = 0
        self.matches_in_flight = 0
        self.deals = 0
        self._attempts = dict.fromkeys(_ENDINGS, 0)

    def attempt_ended(self, ending: Ending, deals: int = 0) -> None:
        """An attempt came back; `deals` are those of its result, if it counts."""
        self._attempts[ending.value] += 1
        self.deals += deals if ending.counts else 0

    def collect(self) -> Iterator[Metric]:
        yield RUNNING.number(int(self.running))
        yield SCHEDULED.number(self.matches_scheduled)
        yield DONE.number(self.matches_done)
        yield IN_FLIGHT.number(self.matches_in_flight)
        yield DEALS.number(self.deals)
        yield ATTEMPTS.numbers(self._attempts)
        yield EXCLUDED.number(self.bots_excluded)
        yield BENCHED.number(self.bots_benched)


class LedgerMetrics(MetricGroup):
    """What a process counts that writes to the ledger."""

    families = (WRITES, FAILURES, ROWS, WRITE_TIME)

    def __init__(self) -> None:
        self.writes = 0
        self.failures = 0
        self.rows = 0
        self._write_time = Histogram(WRITE_BOUNDS)

    def wrote(self, rows: int, seconds: float) -> None:
        """A transaction with so many rows was written."""
        self.writes += 1
        self.rows += rows
        self._write_time.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        yield WRITES.number(self.writes)
        yield FAILURES.number(self.failures)
        yield ROWS.number(self.rows)
        yield WRITE_TIME.histograms({"": self._write_time})


class LobbyMetrics(MetricGroup):
    """What the gateway counts."""

    families = (ATTENDING, REGISTERED, TICKETS, STRANGERS, REFUSED)

    def __init__(self) -> None:
        self.bots_attending = 0
        self.registrations = 0
        self.tickets_issued = 0
        self.failed_authentications = 0
        self._refused = dict.fromkeys(_REASONS, 0)

    def refused(self, reason: Reason) -> None:
        """A call was refused."""
        self._refused[reason.name.lower()] += 1

    def collect(self) -> Iterator[Metric]:
        yield ATTENDING.number(self.bots_attending)
        yield REGISTERED.number(self.registrations)
        yield TICKETS.number(self.tickets_issued)
        yield STRANGERS.number(self.failed_authentications)
        yield REFUSED.numbers(self._refused)


class TlsMetrics(MetricGroup):
    """What a process knows of its TLS, of whatever it listens with; `look` is called first, to have it up to date."""

    families = (CERTIFICATE_BEGINS, CERTIFICATE_ENDS, LISTS_DUE, FILES_REFUSED, RENEWALS)

    def __init__(self) -> None:
        self.certificate_begins_at = self.certificate_ends_at = 0.0
        self.lists_due_at = 0.0
        self.files_are_refused = False
        self.renewals = 0
        self.look: Callable[[], None] = _nothing

    def collect(self) -> Iterator[Metric]:
        self.look()
        yield CERTIFICATE_BEGINS.number(self.certificate_begins_at)
        yield CERTIFICATE_ENDS.number(self.certificate_ends_at)
        yield LISTS_DUE.number(self.lists_due_at)
        yield FILES_REFUSED.number(int(self.files_are_refused))
        yield RENEWALS.number(self.renewals)


def _nothing() -> None:
    """There is no TLS."""


GROUPS: dict[Role, tuple[type[MetricGroup], ...]] = {
    Role.GATEWAY: (BuildMetrics, LobbyMetrics, LedgerMetrics, TlsMetrics),
    Role.MATCH_SERVICE: (BuildMetrics, MatchMetrics, TlsMetrics),
    Role.DIRECTOR: (BuildMetrics, TournamentMetrics, LedgerMetrics, TlsMetrics),
}
"""Which metrics a process of each role has."""


def make_registry(role: Role, *groups: MetricGroup) -> CollectorRegistry:
    """The metrics of this process: `groups`, what runs, and memory, CPU and open files as `process_*`."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    for group in (BuildMetrics(role), *groups):
        registry.register(group)
    return registry
