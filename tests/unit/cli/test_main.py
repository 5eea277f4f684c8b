"""Test the messages, exit codes and imports of the command line."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from relaybook import __version__
from relaybook.cli import main as cli
from relaybook.cli.failure import CommandFailed
from relaybook.settings.configuration import FIELDS

#: Modules that only some commands need. Imports at startup would slow down all commands.
HEAVY = ("apsw", "asyncio", "genai_prices", "pydantic", "rich", "starlette", "uvicorn", "uvloop", "zstandard")


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_without_a_command_it_prints_a_short_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


@pytest.mark.parametrize("arguments", [[], ["config"]])
def test_a_full_disk_behind_standard_output_is_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "relaybook.cli.main", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "relaybook: [Errno 28] No space left on device\n")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"{__version__} (plain)"


def test_filters_are_suggested_for_tail_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "--namespace", "ios"]) == 2
    assert "Write the filter" not in capsys.readouterr().err


def test_only_servers_warn_of_a_feedback_token_without_a_dashboard_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RELAYBOOK_FEEDBACK_TOKEN", "the-writing-token")
    cli.main(["config"])
    assert "feedback_token is set without a dashboard_token" in capsys.readouterr().err
    cli.main(["tail", "--data", "missing"])
    assert "feedback_token" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["srve"], 'Unknown command "srve". Did you mean "serve"? To list the commands, run relaybook --help.\n'),
        (["search", "x"], 'Unknown command "search". To list the commands, run relaybook --help.\n'),
        (["config", "--idle-timout", "3"], "Unknown option: --idle-timout. Did you mean --idle-timeout?"),
        (["config", "--workers", "many"], "--workers is 'many': expected a whole number"),
        (["config", "--workers"], "--workers requires an argument"),
        (["config", "--workers", "1", "--workers", "2"], "specified multiple times"),
        (["backup"], "The directory is missing. Write relaybook backup DIRECTORY."),
        (["backup", "copy", "--data"], "--data requires an argument"),
        (["config", "more"], "Unexpected argument: 'more'. See relaybook config --help."),
        (["config", "--listen", "here"], "expected host:port, such as 127.0.0.1:4100. The value comes from --listen."),
        (["config", "--dashboard", "0.0.0.0:4101"], "Set RELAYBOOK_DASHBOARD_TOKEN"),
        (["config", "--namespaces", "x"], "There is no flag --namespaces. Set namespaces in relaybook.toml."),
        (
            ["config", "--dashboard-token", "x"],
            "no flag --dashboard-token, because other users of this machine could read the value in the list of",
        ),
        (["config", "--dashboard-token=x"], "Set RELAYBOOK_DASHBOARD_TOKEN, or dashboard_token in relaybook.toml"),
        (["config", "--config", "none.toml"], "none.toml could not be read"),
        (
            ["serve", "--upstream", "https://me:hunter2@h/v1"],
            "upstream contains a user name or password. Use a URL such",
        ),
        (["serve", "--upstream", "me:hunter2@h/v1"], "upstream contains a user name or password. Use a URL such"),
        (["serve", "--upstream", "https://h/v1?key=secret"], "upstream contains ? or #. Use a URL such"),
        (["serve", "--upstream", "api.openai.com"], "expected a URL such as https://api.openai.com/v1"),
        (["config", "--dashboard-url", "log.example.com"], "expected a URL such as https://log.example.com"),
        (["serve", "--upstream", "localhost:8000/v1"], "It must start with https:// or http://."),
        (
            ["serve", "--listen", "[::1]:4300", "--dashboard", "[::1]:4300"],
            "dashboard and listen are both [::1]:4300. Choose another port for one of them.",
        ),
        (["tail", "nonsense:x"], "is not a known name"),
        (["tail", "--lines", "0"], "--lines is 0: expected a number from 1 to 500, or 0 with --follow."),
        (["tail", "-f", "--lines", "501"], "--lines is 501"),
        (["tail", "-f", "--sort", "cost_usd"], "--sort cannot be combined with --follow. Remove one of them."),
        (["tail", "--ids", "--json"], "--ids cannot be combined with --json. Remove one of them."),
        (["tail", "-refund"], "To exclude refund, write the filter after --: relaybook tail -- -refund"),
        (["tail", "-namespace:ios"], "write the filter after --: relaybook tail -- -namespace:ios"),
        (["tail", "-model:o1", "x"], "write the filter after --: relaybook tail -- -model:o1"),
        (["tail", "-5"], "-5 would exclude the word 5. For the latest 5 requests, write -n 5."),
        (["tail", "--", "-5"], "-5 would exclude the word 5. For the latest 5 requests, write -n 5."),
        (["tail", "caf\udce9"], r"The filter caf\udce9 is not valid UTF-8. Set the terminal to UTF-8."),
        (["show"], "The id of the request is missing. Write relaybook show ID"),
        (["show", "--json"], "The id of the request is missing. Write relaybook show ID"),
        (["serve", "--port", "4200"], "Unknown option: --port. Use --listen HOST:PORT."),
        (["tail", "--limit=5"], "Unknown option: --limit. Use -n N."),
        (["tail", "--namespace", "ios"], "Write the filter without dashes: namespace=VALUE"),
        (
            ["tail", "--finish-reason=stop"],
            "Unknown option: --finish-reason. Write the filter without dashes: finish_reason=",
        ),
        (["simulate", "--listen", "x"], "expected host:port"),
        (["simulate", "--first-token-ms", "-1"], "expected 0 or a larger number."),
    ],
)
def test_bad_arguments_print_one_line_and_exit_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("relaybook: ")
    assert err.count("\n") == 1


def test_a_failure_prints_one_line_and_exits_with_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise CommandFailed("No.\nNot\ntoday.")

    monkeypatch.setattr(cli, "resolve", fail)
    assert cli.main(["config"]) == 1
    assert capsys.readouterr().err == "relaybook: No. Not today.\n"


def test_a_servers_error_message_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    class Failing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(400)
            self.end_headers()
            self.wfile.write(json.dumps({"error": {"message": "\x1b[2J\x9b31m"}}).encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Failing) as server:
        threading.Thread(target=server.handle_request).start()
        assert cli.main(["tail", "--dashboard", f"127.0.0.1:{server.server_port}"]) == 1
    assert r"returned 400: \x1b[2J\x9b31m" in capsys.readouterr().err


def test_config_prints_every_setting_with_its_source(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAYBOOK_WORKERS", "3")
    monkeypatch.setenv("RELAYBOOK_DASHBOARD_TOKEN", "s3cret-token")
    assert cli.main(["config", "--idle-timeout", "5min"]) == 0
    out = capsys.readouterr().out
    shown = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert list(shown) == list(FIELDS)
    assert shown["workers"] == "3 environment RELAYBOOK_WORKERS"
    assert shown["idle_timeout"] == "300 s flag"
    assert shown["segment_bytes"] == "64 MiB default"
    assert shown["dashboard_token"] == "set, not shown environment RELAYBOOK_DASHBOARD_TOKEN"
    assert shown["price_as"] == "– default"
    assert "s3cret" not in out


def test_a_value_that_config_prints_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "--default-namespace", "\x1b[2J"]) == 0
    assert "\\x1b[2J" in capsys.readouterr().out


def test_flags_reach_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "--hosts", "a,b", "--hosts", "c", "--idle-timeout=15min"]) == 0
    out = capsys.readouterr().out
    assert "a, b, c" in out
    assert "900 s" in out


def test_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAYBOOK_PORT", "80")
    assert cli.main(["config"]) == 0
    assert capsys.readouterr().err == "relaybook: Unknown settings are ignored: RELAYBOOK_PORT.\n"


def test_on_windows_it_suggests_wsl(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybook.cli.main.PLATFORM", "nt")
    assert cli.main(["serve"]) == 2
    assert "WSL" in capsys.readouterr().err


def test_the_command_line_starts_without_slow_imports() -> None:
    code = "import sys, relaybook.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(HEAVY) & set(loaded) == set()
