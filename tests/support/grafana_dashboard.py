"""Generate the Grafana dashboard in deploy/grafana from the metrics that /metrics serves. A test compares the two.

Each metric gets one panel. The type of the metric determines the contents of the panel, its name determines the unit,
and its description is the title.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grafana_foundation_sdk.builders.common import VizTooltipOptions
from grafana_foundation_sdk.builders.dashboard import Dashboard, DatasourceVariable, QueryVariable
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.timeseries import Panel
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import TooltipDisplayMode, VisibilityMode
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync, DataSourceRef, VariableRefresh
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.support.memory_store import MemoryStore
from tests.support.tree import ROOT

from relaybook.api.options import LogMetrics
from relaybook.api.prometheus import render
from relaybook.recorder.metrics import Metrics

FILE: Final = ROOT / "deploy" / "grafana" / "relaybook.json"
_SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
_CHOSEN: Final = 'instance=~"$instance"'
_QUANTILES: Final = (0.5, 0.95, 0.99)
_COLUMNS: Final = 2
_WIDTH: Final = 24 // _COLUMNS


def all_metrics() -> list[Metric]:
    """Return every metric that /metrics can serve."""
    recorder = Metrics(Path("not-written")).current
    log = LogMetrics(
        journal_lag_bytes=1,
        journal_lag_seconds=0.5,
        disk_free_bytes=8,
        quarantined=1,
        requests=recorder.requests,
        requests_failed=recorder.failed,
        histograms=recorder.histograms,
    )
    return list(text_string_to_metric_families(render(MemoryStore().status(), 0, 0, log).decode()))


def dashboard() -> str:
    """Return the whole file."""
    source = DatasourceVariable("datasource").label("Data source").type("prometheus")
    instance = (
        QueryVariable("instance")
        .label("Instance")
        .datasource(_SOURCE)
        .query("label_values(relaybook_records, instance)")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .multi(True)
        .include_all(True)
    )
    built = (
        Dashboard("Relaybook")
        .uid("relaybook")
        .tags(["relaybook"])
        .time("now-6h", "now")
        .refresh("30s")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .with_variable(source)
        .with_variable(instance)
    )
    for panel in _panels():
        built.with_panel(panel)
    return JSONEncoder(sort_keys=True, indent=2).encode(built.build()) + "\n"


def _panels() -> Iterator[Panel]:
    yield _panel("Share of requests that failed", "percentunit").with_target(
        _query(f"{_rate('relaybook_requests_failed_total')} / {_rate('relaybook_requests_total')}", "{{instance}}")
    )
    for metric in all_metrics():
        panel = _panel(metric.documentation.rstrip("."), _unit(metric))
        for number, (expression, legend) in enumerate(_queries(metric)):
            panel.with_target(_query(expression, legend, number))
        yield panel


def _queries(metric: Metric) -> Iterator[tuple[str, str]]:
    if metric.type == "histogram":
        for quantile in _QUANTILES:
            buckets = _rate(f"{metric.name}_bucket", "le")
            yield f"histogram_quantile({quantile}, {buckets})", f"p{quantile * 100:g} {{{{instance}}}}"
    elif metric.type == "counter":
        labels = sorted({label for sample in metric.samples for label in sample.labels})
        yield _rate(f"{metric.name}_total", *labels), " ".join(f"{{{{{each}}}}}" for each in [*labels, "instance"])
    else:
        yield f"{metric.name}{{{_CHOSEN}}}", "{{instance}}"


def _rate(name: str, *labels: str) -> str:
    return f"sum by ({', '.join(['instance', *labels])}) (rate({name}{{{_CHOSEN}}}[$__rate_interval]))"


def _unit(metric: Metric) -> str:
    if metric.name.endswith("_seconds"):
        return "s"
    if metric.name.endswith("_bytes"):
        return "bytes"
    return "cps" if metric.type == "counter" else "short"


def _panel(title: str, unit: str) -> Panel:
    panel = Panel().title(title).datasource(_SOURCE).unit(unit).min(0).span(_WIDTH).height(7)
    panel.tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    return panel.fill_opacity(8).show_points(VisibilityMode.NEVER)


def _query(expression: str, legend: str, number: int = 0) -> Dataquery:
    return Dataquery().ref_id("ABC"[number]).expr(expression).legend_format(legend)


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(dashboard(), "utf-8")
