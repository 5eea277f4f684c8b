"""Write the result tables of docs/explanation/benchmarks.md from the kept results."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.plots import write_plots
from benchmarks.results import latest
from benchmarks.tables import number, page_table

_ROOT = Path(__file__).parent.parent
_PAGE = _ROOT / "docs" / "explanation" / "benchmarks.md"
_BEGIN = "<!-- Everything below is written by: python -m benchmarks --page -->"


def write_page(parts: Iterable[str]) -> None:
    """Replace everything below the marker with one section per part that has a kept result."""
    lines = [_BEGIN, ""]
    for part in parts:
        if (result := latest(part)) is not None:
            plots = write_plots(result, number) if "columns" in result else []
            source = _source(part)
            what = (ast.get_docstring(ast.parse((_ROOT / source).read_text("utf-8"))) or "").partition("\n")[0]
            lines += [f"### {part}", "", what, "", _run(result, source), "", *plots, *page_table(result), ""]
    before = _PAGE.read_text("utf-8").partition(_BEGIN)[0]
    _PAGE.write_text(before + "\n".join(lines).rstrip() + "\n", "utf-8")


def _source(part: str) -> str:
    """Return the module that measures a part; its first line describes the part on the page."""
    path = f"benchmarks/parts/{part}.py"
    return path if (_ROOT / path).exists() else f"benchmarks/{part}.py"


def _run(result: dict[str, Any], source: str) -> str:
    """Return one line about the run: date, commit, machine, and where the method is described."""
    machine, loads = result["machine"], result["load_average_before_and_after"]
    date, _, time = result["began"].partition("T")
    return (
        f"{date} {time[:5]} UTC, commit `{machine['commit']}`, {machine['cores']} × {machine['cpu']}, "
        f"Linux {machine['kernel']}, Python {machine['python']}, "
        f"load average {loads[0]:g} before and {loads[1]:g} after. [Method](../../{source})"
    )
