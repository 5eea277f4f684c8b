"""Test that ``config`` prints the value and source of every setting, but no secrets."""

from pathlib import Path

import pytest

from relaybook.cli.config import show_config
from relaybook.settings.configuration import FIELDS, resolve


def test_every_setting_is_shown_with_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"RELAYBOOK_WORKERS": "3", "RELAYBOOK_DASHBOARD_TOKEN": "s3cret-token"}
    assert show_config(resolve({"data": "log", "idle_timeout": "5min"}, environ, tmp_path)) == 0
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in capsys.readouterr().out.splitlines()}
    assert list(shown) == list(FIELDS)
    assert shown["workers"] == "3 environment RELAYBOOK_WORKERS"
    assert shown["idle_timeout"] == "300 s flag"
    assert shown["segment_bytes"] == "64 MiB default"
    assert shown["dashboard_token"] == "set, not shown environment RELAYBOOK_DASHBOARD_TOKEN"
    assert shown["price_as"] == "– default"


def test_no_secret_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_config(resolve({"data": "log"}, {"RELAYBOOK_DASHBOARD_TOKEN": "s3cret-token"}, tmp_path))
    assert "s3cret" not in capsys.readouterr().out


def test_a_value_cannot_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_config(resolve({"data": "log", "default_namespace": "\x1b[2J"}, {}, tmp_path))
    assert "\\x1b[2J" in capsys.readouterr().out
