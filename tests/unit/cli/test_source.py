"""Test which address a command connects to."""

from pathlib import Path

import pytest

from relaybook.cli.failure import CommandFailed
from relaybook.cli.main import main
from relaybook.cli.source import open_log, own_address
from relaybook.settings.configuration import resolve


@pytest.mark.parametrize(
    ("dashboard", "url"),
    [
        ("127.0.0.1:4101", "http://127.0.0.1:4101"),
        ("localhost:1", "http://localhost:1"),
        ("0.0.0.0:4101", "http://127.0.0.1:4101"),
        ("[::]:4101", "http://[::1]:4101"),
        ("[::1]:4101", "http://[::1]:4101"),
        ("10.0.0.7:4101", "http://10.0.0.7:4101"),
    ],
)
def test_the_dashboard_is_reached_on_this_machine(dashboard: str, url: str) -> None:
    assert own_address(dashboard) == url


#: An address that is not a loopback address, although connections to it end at this machine, where nothing listens.
ELSEWHERE = "http://[::ffff:0:0]:9"


@pytest.mark.parametrize("setting", [f'dashboard_url = "{ELSEWHERE}"', 'dashboard = "10.255.255.1:9"'])
def test_a_file_in_the_directory_does_not_choose_who_gets_the_token_of_the_environment(
    setting: str, tmp_path: Path
) -> None:
    (tmp_path / "relaybook.toml").write_text(setting + "\n")
    environ = {"RELAYBOOK_DASHBOARD_TOKEN": "secret", "HOME": str(tmp_path)}
    with pytest.raises(CommandFailed, match=r"add --config \./relaybook\.toml\."):
        open_log(resolve({}, environ, tmp_path))


@pytest.mark.parametrize(
    ("text", "config", "token"),
    [
        ('dashboard_url = "http://127.0.0.1:9"', None, "secret"),
        ('dashboard_url = "http://localhost:9"', None, "secret"),
        (f'dashboard_url = "{ELSEWHERE}"', "./relaybook.toml", "secret"),
        (f'dashboard_url = "{ELSEWHERE}"\ndashboard_token = "secret"', None, ""),
    ],
)
def test_a_token_is_sent_to_this_machine_or_if_the_file_is_named_or_has_the_token(
    text: str, config: str | None, token: str, tmp_path: Path
) -> None:
    (tmp_path / "relaybook.toml").write_text(text + "\n")
    environ = {"RELAYBOOK_DASHBOARD_TOKEN": token, "HOME": str(tmp_path)}
    with pytest.raises(CommandFailed, match="does not respond"):
        open_log(resolve({}, environ, tmp_path, config))


@pytest.mark.parametrize(
    "command",
    ["tail", "tail --data log", "import a.jsonl", "import", "check", "check --requeue", "drain", "drain --lost a"],
)
def test_a_file_in_the_directory_does_not_choose_who_gets_the_stores_password_of_the_environment(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = "clickhouse://relaybook@10.255.255.1:9/relaybook"
    (tmp_path / "relaybook.toml").write_text(f'store = "{store}"\ndashboard = "127.0.0.1:9"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RELAYBOOK_STORE_PASSWORD", "secret")
    assert main(command.split()) == 1
    assert f"To send the password to {store}, add --config ./relaybook.toml." in capsys.readouterr().err
