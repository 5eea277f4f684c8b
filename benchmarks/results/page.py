"""Write the result tables of docs/explanation/benchmarks.md from the kept results."""

import ast
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.results.kept import latest
from benchmarks.results.plots import write_plots
from benchmarks.results.tables import number, page_table

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "explanation" / "benchmarks.md"
_BEGIN = "<!-- Everything below is written by: python -m benchmarks --page -->"


def write_page(parts: Iterable[str]) -> None:
    """Replace everything below the marker with one section per part that has a kept result, and a table of the runs."""
    lines, runs = [_BEGIN, ""], list[str]()
    for part in parts:
        if (result := latest(part)) is not None:
            plots = write_plots(result, number) if "columns" in result else []
            source = _source(part)
            what = _wrapped(f"{_description(source)} [Method](../../{source})")
            lines += [f"### {part}", "", *what, "", *plots, *page_table(result), ""]
            runs.append(_run(part, result))
    heads = ["part", "began, UTC", "commit", "machine", "Linux", "Python", "load average before and after"]
    lines += ["### Runs", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *runs]
    before = _PAGE.read_text("utf-8").partition(_BEGIN)[0]
    _PAGE.write_text(before + "\n".join(lines).rstrip() + "\n", "utf-8")


def _source(part: str) -> str:
    """Return the path of the module that measures a part."""
    path = f"benchmarks/parts/{part}.py"
    return path if (_ROOT / path).exists() else f"benchmarks/{part}.py"


def _description(source: str) -> str:
    """Return the first two paragraphs of a module's docstring, which describe the part on the page."""
    text = ast.get_docstring(ast.parse((_ROOT / source).read_text("utf-8"))) or ""
    return " ".join(" ".join(text.split("\n\n")[:2]).split()).replace("``", "`")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def _run(part: str, result: dict[str, Any]) -> str:
    """Return one row about the run of a part, with time, commit, machine, versions and load."""
    machine, loads = result["machine"], result["load_average_before_and_after"]
    date, _, time = result["began"].partition("T")
    cells = [
        part,
        f"{date} {time[:5]}",
        f"`{machine['commit']}`",
        f"{machine['cores']} × {machine['cpu']}",
        machine["kernel"],
        machine["python"] + (" (PGO)" if machine["python_is_profile_guided_build"] else ""),
        f"{loads[0]:g}, {loads[1]:g}",
    ]
    return f"| {' | '.join(cells)} |"
