"""Metrics counted in plain numbers: what a family of metrics is called, and how numbers become what Prometheus reads.

`prometheus_client`'s own counters cost a microsecond or more each; an `int` and a bisected list cost a tenth of that.
So the hot path counts plainly, and collectors turn the numbers into families when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric


class Kind(StrEnum):
    """What kind of number a metric is."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with all its labels: the name as it is scraped, and a sentence.

    `label` is the only label, or empty; `values` are all it can ever be, so that each is there from the start, as zero.
    """

    name: str
    kind: Kind
    sentence: str
    label: str = ""
    values: tuple[str, ...] = ()

    def number(self, value: float) -> Metric:
        """The family without labels."""
        return self.numbers({"": value})

    def numbers(self, values: Mapping[str, float]) -> Metric:
        """The family with a number for each value of its label."""
        make = CounterMetricFamily if self.kind is Kind.COUNTER else GaugeMetricFamily
        family = make(self.name, self.sentence, labels=self._labels)
        for value, number in values.items():
            family.add_metric([value] if self.label else [], number)
        return family

    def histograms(self, histograms: Mapping[str, Histogram]) -> Metric:
        """The family with a histogram for each value of its label (the empty text where there is no label)."""
        family = HistogramMetricFamily(self.name, self.sentence, labels=self._labels)
        for value, histogram in histograms.items():
            family.add_metric([value] if self.label else [], histogram.buckets(), histogram.total)
        return family

    @property
    def _labels(self) -> list[str]:
        return [self.label] if self.label else []


class Histogram:
    """How often what was observed; `counts[i]` is for values up to `bounds[i]`, the last one for all that is larger."""

    __slots__ = ("_names", "bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        self._names = [*(str(float(bound)) for bound in bounds), "+Inf"]

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def move_to(self, other: Histogram) -> None:
        """Add everything to `other`, which has the same bounds, and start again from nothing."""
        for index, count in enumerate(self.counts):
            other.counts[index] += count
            self.counts[index] = 0
        other.total += self.total
        self.total = 0.0

    def buckets(self) -> list[tuple[str, float]]:
        """Pairs of upper bound and number of values up to it, as Prometheus wants them."""
        return list(zip(self._names, _running_sums(list(self.counts)), strict=True))


def _running_sums(counts: Iterable[int]) -> Iterable[float]:
    total = 0
    for count in counts:
        total += count
        yield total
