"""Represent the metrics and goals of a part of the benchmark."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One metric. ``goal`` is the maximum or, with ``at_least``, the minimum of the value. `None` means that there is
    no goal."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached, or `None` if there is no goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal


@dataclass
class Result:
    """The result of one part, with the method, the metrics, and the rounds from which the metrics are computed."""

    part: str
    method: str
    figures: list[Figure] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)

    def add(self, what: str, value: float, unit: str, goal: float | None = None, *, at_least: bool = False) -> None:
        """Add a metric."""
        self.figures.append(Figure(what, value, unit, goal, at_least))

    def median(self, name: str, **where: Any) -> float:
        """Return the median of the field ``name`` over the rounds that have these values."""
        found = [each[name] for each in self.rounds if all(each.get(key) == value for key, value in where.items())]
        return float(statistics.median(found))

    def plain(self) -> dict[str, Any]:
        """Return the result in the form in which it is stored as JSON."""
        return asdict(self) | {"figures": [asdict(each) | {"reached": each.reached} for each in self.figures]}


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile of ``values`` (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
