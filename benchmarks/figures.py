"""Figures and goals: what a part of the benchmark found, and whether that is enough."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One number. ``goal`` is the most it may be, or with ``at_least`` the least; None: told for comparison."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal


@dataclass
class Result:
    """What one part found: how, the figures, and every round they were made from."""

    part: str
    method: str
    figures: list[Figure] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)

    def add(self, what: str, value: float, unit: str, goal: float | None = None, *, at_least: bool = False) -> None:
        """One more figure."""
        self.figures.append(Figure(what, value, unit, goal, at_least))

    def median(self, name: str, **where: Any) -> float:
        """The median over the rounds that have these values of their field ``name``."""
        found = [each[name] for each in self.rounds if all(each.get(key) == value for key, value in where.items())]
        return float(statistics.median(found))

    def plain(self) -> dict[str, Any]:
        """As it is kept in JSON."""
        return asdict(self) | {"figures": [asdict(each) | {"reached": each.reached} for each in self.figures]}


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many per cent of ``values`` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
