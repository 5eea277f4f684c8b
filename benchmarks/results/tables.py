"""Format results as Markdown tables for the terminal (all figures) and docs/explanation/benchmarks.md (main
figures)."""

import re
from typing import Any

from benchmarks.comparison.result import MAIN_ROWS, matrix

Figure = dict[str, Any]

#: Figures without a goal that the page also shows, by part.
_ALSO_SHOWN = {
    "relay_requests": ("traced headers: relay / nginx", "traced headers: relay, compiled / nginx"),
    "recorder": ("word index",),
    "latency": (
        "one connection: added by nginx, p50",
        "one connection: added by nginx, p99",
        "one connection: added by relay, p99",
        "durability = power, one connection: added by nginx, p50",
        "durability = power, one connection: added by nginx, p99",
        "durability = power, one connection: added by relay, p99",
        "200 requests/s: added by nginx, p50",
        "200 requests/s: added by nginx, p99",
        "200 requests/s: added by relay, p50",
        "200 requests/s: added by relay, p99",
    ),
    "chunk_delay": ("direct: median", "direct: p99", "direct: maximum", "relay: median", "relay: p99"),
    "visible": ("delay, p50", "delay, p99"),
    "load": ("overload: requests sent", "overload: rejected with 503 and retry-after-ms"),
    "idle": ("p99 without idle connections", "p99 with 10,000 idle connections"),
    "recovery": ("start without compiled bytecode", "time to record the backlog"),
    "page": ("5 MB response: time until shown",),
    "capacity": (
        "1 relay process, saturated: requests",
        "2 relay processes, saturated: requests",
        "1 relay process, compiled, saturated: requests",
    ),
    "big_log": (
        "records when the log was made",
        "disk: one 8 KiB read, p99",
        "disk: 11 dependent 8 KiB reads, p99",
    ),
}
#: Parts whose figures are shown as a grid, with a pattern for a figure's row and column.
_CASE_FIRST = re.compile(r"(?P<row>.+?): (?P<column>.+)")
_GRIDS = {
    "relay_requests": _CASE_FIRST,
    "streams": re.compile(r"(?P<column>.+?/s), (?P<row>.+)"),
    "latency": _CASE_FIRST,
    "chunk_delay": _CASE_FIRST,
    "cancel": _CASE_FIRST,
    "attacks": _CASE_FIRST,
    "recovery": re.compile(r"(?P<column>empty|backlog): (?P<row>.+)"),
    "capacity": _CASE_FIRST,
}
#: Name of a figure that belongs to the matrix of questions.
_QUESTION = re.compile(r"(cold|warm|recording): (.+), (median|p99)")
_STATES = {"cold": "cold", "warm": "warm", "recording": "while recording"}


def table(result: dict[str, Any]) -> list[str]:
    """Return a table of all figures in a result. A comparison has a column for each proxy."""
    return matrix(result, number) if "columns" in result else _rows(result["figures"])


def page_table(result: dict[str, Any]) -> list[str]:
    """Return a table of the figures in a kept result that the page shows."""
    if "columns" in result:
        return matrix(result, number, MAIN_ROWS)
    figures: list[Figure] = result["figures"]
    asked = [each for each in figures if _QUESTION.fullmatch(each["what"])]
    also = _ALSO_SHOWN.get(result["part"], ())
    shown = [each for each in figures if each not in asked and (each["goal"] is not None or each["what"] in also)]
    pattern = _GRIDS.get(result["part"])
    in_grid = [each for each in shown if pattern and pattern.fullmatch(each["what"])]
    listed = [each for each in shown if each not in in_grid]
    tables = [
        _grid(in_grid, pattern) if pattern and in_grid else [],
        _rows(listed) if listed else [],
        _questions(asked) if asked else [],
    ]
    return "\n\n".join("\n".join(lines) for lines in tables if lines).split("\n")


def number(value: float) -> str:
    """Format a number with two decimals below 10, one below 1,000, and none for larger numbers and integers."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _rows(figures: list[Figure]) -> list[str]:
    lines = ["| figure | measured | goal | reached |", "|---|---:|---:|:---:|"]
    for each in figures:
        reached = {True: "✓", False: "✗", None: ""}[each["reached"]]
        lines.append(f"| {each['what']} | {_measured(each)} | {_goal(each)} | {reached} |")
    return lines


def _grid(figures: list[Figure], pattern: re.Pattern[str]) -> list[str]:
    """Return a table with a row and a column for each case.

    If all figures of a column have the same goal, the goal is in the heading.
    """
    rows: dict[str, dict[str, Figure]] = {}
    goals: dict[str, set[str]] = {}
    for each in figures:
        if found := pattern.fullmatch(each["what"]):
            rows.setdefault(found["row"], {})[found["column"]] = each
            goals.setdefault(found["column"], set()).add(_goal(each))
    shared = {column: next(iter(found)) for column, found in goals.items() if len(found) == 1}
    heads = [f"{column} ({shared[column]})" if shared.get(column) else column for column in goals]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for row, by_column in rows.items():
        cells = [_grid_cell(by_column.get(column), column not in shared) for column in goals]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _grid_cell(figure: Figure | None, with_goal: bool) -> str:
    if figure is None:
        return "–"
    mark = {True: " ✓", False: " ✗", None: ""}[figure["reached"]]
    goal = f" ({_goal(figure)})" if with_goal and figure["goal"] is not None else ""
    return _measured(figure) + mark + goal


def _measured(figure: Figure) -> str:
    return f"{number(figure['value'])} {figure['unit']}".rstrip()


def _goal(figure: Figure) -> str:
    if figure["goal"] is None:
        return ""
    return f"{'≥' if figure['at_least'] else '≤'} {number(figure['goal'])} {figure['unit']}".rstrip()


def _questions(figures: list[Figure]) -> list[str]:
    """Return one row per question, with p50 and p99 for each state of the log."""
    rows: dict[str, dict[tuple[str, str], Figure]] = {}
    for each in figures:
        if found := _QUESTION.fullmatch(each["what"]):
            state, question, percentile = found.groups()
            rows.setdefault(question, {})[state, percentile] = each
    columns = [(state, percentile) for state in _STATES for percentile in ("median", "p99")]
    heads = [f"{_STATES[state]} {percentile.replace('median', 'p50')}" for state, percentile in columns]
    lines = [f"| question, times in ms | {' | '.join(heads)} | goal |", f"|---|{'---:|' * (len(heads) + 1)}"]
    for question, found_figures in rows.items():
        cells = [_cell(found_figures.get(column)) for column in columns]
        goal = next(iter(found_figures.values()))["goal"]
        lines.append(f"| {question} | {' | '.join(cells)} | {'' if goal is None else f'≤ {number(goal)}'} |")
    return lines


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "–"
    return number(figure["value"]) + (" ✗" if figure["reached"] is False else "")
