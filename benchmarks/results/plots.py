"""Draw bar charts of the kept comparison as SVG: ``docs/images/benchmark-*.svg``.

The scale is logarithmic, because the proxies differ by a factor of a thousand. Every bar has its number next to it.
Colors follow the reader's light or dark color scheme.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.comparison.result import cells, reason

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_WIDTH, _LEFT, _RIGHT, _TOP, _STEP, _BAR = 760, 170, 130, 62, 30, 18
_STYLE = """
  .back { fill: #ffffff } .text { fill: #1f2328 } .faint { fill: #59636e } .line { stroke: #d1d9e0 }
  .other { fill: #8c959f } .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .text { fill: #e6edf3 } .faint { fill: #9198a1 } .line { stroke: #30363d }
    .other { fill: #6e7681 } .ours { fill: #4493f8 }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif } .title { font-size: 15px; font-weight: 600 }
"""


@dataclass(frozen=True)
class Plot:
    """A chart of one row of the comparison."""

    file: str
    row: str
    title: str
    unit: str
    less_is_better: bool = True


PLOTS = (
    Plot("benchmark-cpu", "CPU per request, five headers", "CPU per request", "µs"),
    Plot(
        "benchmark-throughput",
        "requests per second, 32 connections",
        "Requests per second, 32 connections",
        "/s",
        False,
    ),
    Plot("benchmark-events", "CPU per event, 100 streams", "CPU per streamed event, 100 streams", "µs"),
)


def write_plots(result: dict[str, Any], number: Callable[[float], str]) -> list[str]:
    """Write a chart for each plot whose row was measured, and return the Markdown lines that show them."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    rows, lines = cells(result), list[str]()
    names = [*result["columns"], *(name for name in result["skipped"] if name not in result["columns"])]
    for plot in PLOTS:
        path = IMAGES / f"{plot.file}.svg"
        values = {name: float(cell["value"]) for name, cell in rows.get(plot.row, {}).items()}
        path.unlink(missing_ok=True)
        if values:
            shown = [name for name in names if name != "direct" or name in values]
            missing = {name: reason(result, plot.row, name) for name in shown if name not in values}
            path.write_text(draw(plot, shown, values, missing, number), "utf-8")
            lines += [f"![Bar chart: {plot.title}. The table below has the numbers.](../images/{path.name})", ""]
    return lines


def describe(
    plot: Plot, values: Mapping[str, float], missing: Mapping[str, str], number: Callable[[float], str]
) -> str:
    """Return a description of the chart as text."""
    items = [f"{name} {number(value)} {plot.unit}" for name, value in values.items()]
    items += [f"{name} {why}" for name, why in missing.items()]
    return f"{plot.title} ({_better(plot)}): {', '.join(items)}."


def draw(
    plot: Plot,
    names: list[str],
    values: Mapping[str, float],
    missing: Mapping[str, str],
    number: Callable[[float], str],
) -> str:
    """Return the SVG, with one bar for each name, or a text if the name has no value."""
    height = _TOP + _STEP * len(names) + 30
    low, high = _decades([value for value in values.values() if value > 0])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(plot.title)}</title>',
        f'<desc id="d">{escape(describe(plot, values, missing, number))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{_WIDTH}" height="{height}" rx="6"/>',
        f'<text class="text title" x="16" y="28">{escape(plot.title)}</text>',
        f'<text class="faint" x="16" y="47">{escape(plot.unit)}, {_better(plot)}; logarithmic scale</text>',
    ]
    bottom = height - 26
    for decade in range(low, high + 1):
        x = _x(10.0**decade, low, high)
        parts.append(f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{bottom}"/>')
        parts.append(f'<text class="faint" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0**decade:,g}</text>')
    for place, name in enumerate(names):
        parts += _bar(name, _TOP + place * _STEP, values.get(name), missing.get(name, ""), (low, high), number)
    return "\n".join([*parts, "</svg>", ""])


def _bar(
    name: str, y: int, value: float | None, why: str, decades: tuple[int, int], number: Callable[[float], str]
) -> list[str]:
    middle = y + _BAR - 4
    label = f'<text class="text" x="{_LEFT - 10}" y="{middle}" text-anchor="end">{escape(name)}</text>'
    if value is None:
        return [label, f'<text class="faint" x="{_LEFT + 6}" y="{middle}">{escape(why[:70])}</text>']
    end = _x(value, *decades) if value > 0 else _LEFT
    kind = "ours" if name.startswith("Relaybook") else "other"
    bar = f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{max(end - _LEFT, 1):.1f}" height="{_BAR}" rx="2"/>'
    return [label, bar, f'<text class="text" x="{end + 8:.1f}" y="{middle}">{number(value)}</text>']


def _decades(values: list[float]) -> tuple[int, int]:
    """Return the first and last power of ten on the scale. The scale is chosen so that the shortest bar is visible."""
    if not values:
        return 0, 1
    low = math.floor(math.log10(min(values)) - 0.3)
    return low, max(low + 1, math.ceil(math.log10(max(values))))


def _x(value: float, low: int, high: int) -> float:
    share = (math.log10(value) - low) / (high - low)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _better(plot: Plot) -> str:
    return "less is better" if plot.less_is_better else "more is better"
