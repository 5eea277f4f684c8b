"""The files in deploy/ fit the program. ``make deploy-check`` also runs the checks of systemd."""

from collections import defaultdict

from tests.support.tree import ROOT

from relaybook.cli.main import app
from relaybook.settings.definitions import Settings

UNIT = ROOT / "deploy" / "systemd" / "relaybook.service"


def directives() -> dict[str, list[str]]:
    """Return the values of each directive of the unit."""
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
