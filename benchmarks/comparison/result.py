"""Store the result of the comparison, with figures by row and proxy, and the reasons for missing figures."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from benchmarks.results.figures import Result

#: Separates a figure's row from its column in ``Figure.what``.
_AT = " @ "
#: Rows that the page shows.
MAIN_ROWS = (
    "CPU per request, five headers",
    "– relay only, five headers",
    "CPU per request, sdk headers",
    "requests per second, 1 connection",
    "requests per second, 32 connections",
    "requests per second, 256 connections",
    "added latency, one connection, p50",
    "added latency, one connection, p99",
    "CPU per event, 100 streams",
    "CPU per event, 300 streams",
    "CPU per request, 1 MiB sent",
    "response time, 1 MiB sent",
    "CPU per request, 8 MiB sent, 1 MiB received",
    "response time, 8 MiB sent, 1 MiB received",
    "memory without connections",
    "memory with 1,000 streams",
    "memory with 10,000 idle connections",
)


@dataclass
class Comparison(Result):
    """The result of the comparison.

    ``columns`` has the version of each measured proxy by name. ``skipped`` has the reason why a proxy was not measured,
    by name.
    """

    columns: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    #: Text in place of a figure, by ``row @ column``.
    notes: dict[str, str] = field(default_factory=dict)

    def cell(self, row: str, column: str, value: float, unit: str) -> None:
        """Add one figure."""
        self.add(f"{row}{_AT}{column}", value, unit)

    def note(self, row: str, column: str, text: str) -> None:
        """Add the reason why a cell has no figure."""
        self.notes[f"{row}{_AT}{column}"] = text

    def found(self, name: str, **where: Any) -> bool:
        """Return whether any round has the value ``name``, so that there is a median."""
        return any(name in each and all(each.get(key) == value for key, value in where.items()) for each in self.rounds)


def cells(result: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the figures of a kept comparison: row → column → figure, in the order they were added."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for each in result["figures"]:
        row, _, column = each["what"].rpartition(_AT)
        found.setdefault(row, {})[column] = each
    return found


def matrix(result: dict[str, Any], number: Callable[[float], str], only: Collection[str] | None = None) -> list[str]:
    """Return a kept comparison as a Markdown table with a column per proxy. ``only`` selects rows."""
    columns, skipped = result["columns"], result["skipped"]
    every = [*columns, *(name for name in skipped if name not in columns)]
    lines = [f"| figure | {' | '.join(every)} |", f"|---|{'---:|' * len(every)}"]
    lines.append(f"| version | {' | '.join(columns.get(name, '–') for name in every)} |")
    for row, by_column in cells(result).items():
        if only is not None and row not in only:
            continue
        unit = next(iter(by_column.values()))["unit"]
        line = []
        for name in every:
            if name in by_column:
                line.append(number(by_column[name]["value"]))
            else:
                line.append(reason(result, row, name))
        lines.append(f"| {row}{f', {unit}' if unit else ''} | {' | '.join(line)} |")
    return lines


def reason(result: dict[str, Any], row: str, column: str) -> str:
    """Return the text of a cell without a figure."""
    if column in result["skipped"]:
        return f"skipped: {result['skipped'][column]}"
    return str(result["notes"].get(f"{row}{_AT}{column}", "–"))
