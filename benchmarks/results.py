"""Keeps results: raw JSON below ``benchmarks/results``, and the tables made from it."""

import json
from pathlib import Path
from typing import Any

from benchmarks.comparison_result import matrix
from benchmarks.figures import Result
from benchmarks.plots import write_plots

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
_BEGIN = "<!-- figures: written by python -m benchmarks --page -->"


def keep(result: Result, machine: dict[str, Any], began: str, load: tuple[float, float], note: str = "") -> Path:
    """Writes ``<moment>-<part>.json``, so that no run takes another's place; the page shows the latest.

    With a ``note`` it is ``<moment>-<part>.<note>.json``, which is not shown on the page.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{began.replace(':', '-')}-{result.part}{note and '.'}{note}.json"
    facts = {"part": result.part, "began": began, "machine": machine, "load_average_before_and_after": load}
    path.write_text(json.dumps(facts | result.plain(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def latest(part: str) -> dict[str, Any] | None:
    """The last kept result of a part."""
    found = sorted(RESULTS.glob(f"*-{part}.json"))
    return json.loads(found[-1].read_text("utf-8")) if found else None


def table(result: dict[str, Any]) -> list[str]:
    """The figures of one kept result as a Markdown table; of a comparison, proxy by proxy."""
    if "columns" in result:
        return matrix(result, _number)
    lines = ["| figure | measured | goal | reached |", "|---|---:|---:|:---:|"]
    for each in result["figures"]:
        goal = "" if each["goal"] is None else f"{'≥' if each['at_least'] else '≤'} {_number(each['goal'])}"
        reached = {True: "✓", False: "✗", None: ""}[each["reached"]]
        lines.append(f"| {each['what']} | {_number(each['value'])} {each['unit']} | {goal} | {reached} |")
    return lines


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def write_page(parts: list[str]) -> None:
    """Puts the tables of the latest results at the end of docs/benchmarks.md."""
    written = [_BEGIN, ""]
    for part in parts:
        result = latest(part)
        if result is not None:
            plots = write_plots(result, _number) if "columns" in result else []
            written += [f"### {part}", "", _run(result), "", result["method"], "", *plots, *table(result), ""]
    before = PAGE.read_text("utf-8").partition(_BEGIN)[0]
    PAGE.write_text(before + "\n".join(written).rstrip() + "\n", "utf-8")


def _run(result: dict[str, Any]) -> str:
    """Which run a table is of."""
    machine = result["machine"]
    build = "" if machine["python_is_profile_guided_build"] else " (configured without --enable-optimizations)"
    load = " and ".join(f"{each:g}" for each in result["load_average_before_and_after"])
    return (
        f"Run of {result['began']}: {machine['cores']} × "
        f"{machine['cpu']}, Linux {machine['kernel']}, {machine['system']}, Python {machine['python']}{build}, nginx "
        f"{machine['nginx']}, commit {machine['commit']}, load average before and after {load}."
    )
