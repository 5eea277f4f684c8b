"""The command line: what it prints, its exit codes, what it imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from relaybook import __version__
from relaybook.cli import main as cli
from relaybook.cli.failure import CommandFailed

#: What only some commands need; importing it would slow down all of them.
HEAVY = ("apsw", "asyncio", "genai_prices", "pydantic", "rich", "starlette", "uvicorn", "uvloop", "zstandard")


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_alone_it_prints_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_only_tail_takes_filters(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "--namespace", "ios"]) == 2
    assert "It is a filter" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["srve"], 'Unknown command "srve". Did you mean "serve"?'),
        (["config", "--idle-timout", "3"], "Unknown option: --idle-timout. Did you mean --idle-timeout?"),
        (["config", "--workers", "many"], "--workers is 'many': it takes a whole number"),
        (["config", "--workers"], "--workers requires an argument"),
        (["config", "--workers", "1", "--workers", "2"], "specified multiple times"),
        (["config", "more"], "Nothing here takes 'more'."),
        (["config", "--listen", "here"], "write host:port, like 127.0.0.1:4100. Set by --listen."),
        (["config", "--dashboard", "0.0.0.0:4101"], "Set RELAYBOOK_DASHBOARD_TOKEN"),
        (["config", "--dashboard-token", "x"], "is no flag, for others could read it"),
        (["config", "--dashboard-token=x"], "set RELAYBOOK_DASHBOARD_TOKEN, or dashboard_token in relaybook.toml"),
        (["config", "--config", "none.toml"], "none.toml cannot be read"),
        (["serve", "--upstream", "api.openai.com"], "write a base URL like https://api.openai.com/v1"),
        (["serve", "--upstream", "localhost:8000/v1"], "It lacks the https:// or http:// at its beginning."),
        (
            ["serve", "--listen", "[::1]:4300", "--dashboard", "[::1]:4300"],
            "and so is listen: give it a port of its own",
        ),
        (["tail", "nonsense:x"], "is no name here"),
        (["tail", "--lines", "0"], "--lines is 0: it takes a number from 1 to 500, with --follow also 0."),
        (["tail", "-f", "--lines", "501"], "--lines is 501"),
        (["tail", "-refund"], "To leave out what is refund, write it after --: relaybook tail -- -refund"),
        (["tail", "-namespace:ios"], "write it after --: relaybook tail -- -namespace:ios"),
        (["tail", "-model:o1", "x"], "write it after --: relaybook tail -- -model:o1"),
        (["tail", "-5"], "-5 would leave out the word 5: for the latest 5 requests write -n 5"),
        (["tail", "--", "-5"], "-5 would leave out the word 5: for the latest 5 requests write -n 5"),
        (["tail", "caf\udce9"], r"The filter caf\udce9 is not UTF-8: write it in UTF-8."),
        (["show"], "show takes the id of a request: relaybook show ID"),
        (["serve", "--port", "4200"], "Unknown option: --port. It is --listen HOST:PORT here."),
        (["tail", "--limit=5"], "Unknown option: --limit. It is -n here."),
        (["tail", "--namespace", "ios"], "It is a filter: write namespace=VALUE, without the dashes."),
        (["tail", "--finish-reason=stop"], "Unknown option: --finish-reason. It is a filter: write finish_reason="),
        (["simulate", "--listen", "x"], "write host:port"),
        (["simulate", "--first-token-ms", "-1"], "it takes a number from 0 on"),
    ],
)
def test_bad_arguments_end_in_one_line_and_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("relaybook: ")
    assert err.count("\n") == 1


def test_what_cannot_be_done_ends_in_one_line_and_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise CommandFailed("No.\nNot\ntoday.")

    monkeypatch.setattr("relaybook.cli.config.show_config", fail)
    assert cli.main(["config"]) == 1
    assert capsys.readouterr().err == "relaybook: No. Not today.\n"


def test_flags_reach_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "--hosts", "a,b", "--hosts", "c", "--idle-timeout=15min"]) == 0
    out = capsys.readouterr().out
    assert "a, b, c" in out
    assert "900 s" in out


def test_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAYBOOK_PORT", "tcp://10.0.0.1:80")
    assert cli.main(["config"]) == 0
    assert capsys.readouterr().err == "relaybook: Not a setting, ignored: RELAYBOOK_PORT.\n"


def test_on_windows_it_points_to_wsl(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relaybook.cli.main.PLATFORM", "nt")
    assert cli.main(["serve"]) == 2
    assert "WSL" in capsys.readouterr().err


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, relaybook.cli.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(HEAVY) & set(loaded) == set()
