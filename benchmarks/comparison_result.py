"""What the comparison found: a matrix of figures by proxy, and why a cell has none."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.figures import Result

#: Stands between a figure's row and its column in ``Figure.what``.
_AT = " @ "


@dataclass
class Comparison(Result):
    """``columns``: names of proxies with their versions. ``skipped``: those that were not measured, with the reason."""

    columns: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    #: Words in place of a figure, by ``row @ column``.
    notes: dict[str, str] = field(default_factory=dict)

    def cell(self, row: str, column: str, value: float, unit: str) -> None:
        """One figure."""
        self.add(f"{row}{_AT}{column}", value, unit)

    def note(self, row: str, column: str, text: str) -> None:
        """Why there is no figure."""
        self.notes[f"{row}{_AT}{column}"] = text

    def found(self, name: str, **where: Any) -> bool:
        """Whether a round has such a value, so that it has a median."""
        return any(name in each and all(each.get(key) == value for key, value in where.items()) for each in self.rounds)


def cells(result: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures of a kept comparison: row → column → figure, in the order they were added."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for each in result["figures"]:
        row, _, column = each["what"].rpartition(_AT)
        found.setdefault(row, {})[column] = each
    return found


def matrix(result: dict[str, Any], number: Callable[[float], str]) -> list[str]:
    """A kept comparison as a Markdown table: rows are figures, columns are proxies."""
    columns, skipped = result["columns"], result["skipped"]
    every = [*columns, *(name for name in skipped if name not in columns)]
    lines = [f"| figure | {' | '.join(every)} |", f"|---|{'---:|' * len(every)}"]
    lines.append(f"| version | {' | '.join(columns.get(name, '–') for name in every)} |")
    for row, by_column in cells(result).items():
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
    """What stands in a cell without a figure."""
    if column in result["skipped"]:
        return f"skipped: {result['skipped'][column]}"
    return str(result["notes"].get(f"{row}{_AT}{column}", "–"))
