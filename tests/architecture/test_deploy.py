"""Test that the files in deploy/ match the program.

``make deploy-check`` also checks deploy/ with the tools of systemd and Prometheus.
"""

import json
import re
from collections import defaultdict

from tests.support.grafana_dashboard import FILE, all_metrics, dashboard
from tests.support.tree import ROOT

from relaybook.cli.main import app
from relaybook.settings.configuration import FIELDS, variable_of
from relaybook.settings.definitions import Settings

RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"
UNIT = ROOT / "deploy" / "systemd" / "relaybook.service"


def directives() -> dict[str, list[str]]:
    """Return the values of each directive in the systemd unit."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in UNIT.read_text("utf-8").splitlines():
        name, is_directive, value = line.partition("=")
        if is_directive and not line.startswith("#"):
            found[name].append(value)
    return found


def test_the_commands_of_the_unit_exist() -> None:
    for directive in ("ExecStart", "ExecReload"):
        _, command, *arguments = directives()[directive][0].split()
        flags = {name for argument in app[command].assemble_argument_collection() for name in argument.names}
        assert {each for each in arguments if each.startswith("--")} <= flags


def test_systemd_waits_longer_than_running_requests_may_take() -> None:
    assert float(directives()["TimeoutStopSec"][0]) >= Settings().drain_timeout + 90


def test_the_unit_does_not_restart_after_a_wrong_setting_and_signals_only_the_supervisor() -> None:
    unit = directives()
    assert (unit["Type"], unit["KillMode"], unit["RestartPreventExitStatus"]) == (["notify"], ["mixed"], ["2"])


def test_the_unit_keeps_the_data_to_its_own_user() -> None:
    unit = directives()
    assert unit["DynamicUser"] == ["yes"]
    assert unit["ExecStart"][0].endswith(f"/var/lib/{unit['StateDirectory'][0]}")
    assert unit["StateDirectoryMode"] == ["0700"]


def test_the_alerts_use_metrics_that_exist() -> None:
    used = set(re.findall(r"\brelaybook_\w+", RULES.read_text("utf-8")))
    assert used
    assert used <= metric_names()


def test_every_alert_is_explained_and_tested() -> None:
    alerts = re.findall(r"- alert: Relaybook(\w+)", RULES.read_text("utf-8"))
    assert alerts
    page = (ROOT / "docs" / "how-to" / "operate.md").read_text("utf-8")
    tests = RULES.with_name("rules_test.yaml").read_text("utf-8")
    assert [name for name in alerts if f"\n| {name} |" not in page or f'alertname="Relaybook{name}"' not in tests] == []


def metric_names() -> set[str]:
    """Return the names of all series that /metrics can contain."""
    return {sample.name for metric in all_metrics() for sample in metric.samples}


def test_the_grafana_dashboard_is_up_to_date() -> None:
    assert FILE.read_text("utf-8") == dashboard()


def test_the_grafana_dashboard_has_every_metric_and_no_other() -> None:
    expressions = " ".join(grafana_expressions())
    assert set(re.findall(r"\brelaybook_\w+", expressions)) <= metric_names()
    assert [metric.name for metric in all_metrics() if metric.name not in expressions] == []


def grafana_expressions() -> list[str]:
    panels = json.loads(FILE.read_text("utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_the_variables_of_the_image_are_settings() -> None:
    variables = set(re.findall(r"\bRELAYBOOK_[A-Z_]+", (ROOT / "Dockerfile").read_text("utf-8")))
    assert variables - {"RELAYBOOK_COMPILE"} <= {variable_of(name) for name in FIELDS}


def test_the_image_installs_only_locked_packages() -> None:
    installs = re.findall(r"\binstall --quiet.*", (ROOT / "Dockerfile").read_text("utf-8"))
    assert [line for line in installs if not ("--require-hashes" in line or "--no-deps /wheel/" in line)] == []
