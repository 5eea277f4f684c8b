"""Test the output of the command ``tail``."""

import json
from pathlib import Path

import pytest
from tests.support.rows import row

from relaybook.cli import tail as module
from relaybook.cli.failure import BadArgument
from relaybook.settings.configuration import Configuration, resolve


class OneRow:
    """A fake log with one request."""

    def lag_seconds(self) -> float:
        return 0.0

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[dict[str, object]], bool]:
        return [row(input_preview=f"{terms} {limit}")], True

    def follow(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, object]]:
        return [row(namespace="followed")]

    def top(self, terms: list[tuple[str, str]], field: str, limit: int) -> tuple[list[dict[str, object]], bool]:
        return [row(namespace=f"{terms} {field} {limit}")], False


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: OneRow())
    return resolve({"data": "log"}, {}, tmp_path)


def test_each_request_is_one_line(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.tail(settings, ["kind=chat"], lines=3) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "[('kind', 'chat')] 3" in line


@pytest.mark.parametrize("only_ids", [True, False])
def test_a_server_cannot_control_the_terminal_with_a_row(
    settings: Configuration,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    only_ids: bool,
) -> None:
    hostile = row() | {"id": "\x1b[2J", "result": {"code": "complete", "text": "\x1b[2J", "tone": "good"}}
    monkeypatch.setattr(OneRow, "latest", lambda *_: ([hostile], True))
    module.tail(settings, [], lines=1, only_ids=only_ids)
    assert r"\x1b[2J" in capsys.readouterr().out


def test_with_ids_each_line_is_an_id(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.tail(settings, [], lines=3, only_ids=True)
    assert capsys.readouterr().out == f"{row()['id']}\n"


def test_with_ids_running_requests_count_toward_the_number_of_lines(
    settings: Configuration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row() | {"id": "finished"}, row(outcome="open") | {"id": "running"}]
    monkeypatch.setattr(OneRow, "latest", lambda *_: (rows, True))
    module.tail(settings, [], lines=1, only_ids=True)
    assert capsys.readouterr().out == "running\n"
    module.tail(settings, [], lines=1)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_with_sort_the_highest_values_are_printed(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.tail(settings, ["kind=chat"], lines=3, sort="cost_usd", as_json=True)
    output = capsys.readouterr()
    assert json.loads(output.out) == row(namespace="[('kind', 'chat')] Sort(field='cost_usd', is_ascending=False) 3")
    assert output.err == (
        "The search reached its time limit, so requests with a higher cost_usd may be missing. Use a narrower filter, "
        "such as from=-1d.\n"
    )


def test_an_unknown_sort_field_is_rejected(settings: Configuration) -> None:
    with pytest.raises(BadArgument) as refused:
        module.tail(settings, [], lines=3, sort="cost")
    assert str(refused.value).startswith("--sort is 'cost': expected one of cost_usd, duration_ms,")


def test_the_number_of_requests_without_a_value_is_printed(
    settings: Configuration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneRow, "top", lambda *_: ([row()], True))
    counted: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(OneRow, "count_matching", lambda _, terms: counted.append(terms) or 7, raising=False)
    module.tail(settings, ["kind=chat"], lines=3, sort="cost_usd", order="asc", only_ids=True)
    assert counted == [[("kind", "chat"), ("cost", "unknown")]]
    assert capsys.readouterr().err == "7 requests with unknown cost are not shown.\n"


@pytest.mark.parametrize(("field", "reason"), [("first_token_ms", ""), ("cost_usd", module._NO_PRICE)])
def test_without_a_value_nothing_is_printed_but_the_reason(
    field: str,
    reason: str,
    settings: Configuration,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OneRow, "top", lambda *_: ([], True))
    assert module.tail(settings, [], lines=3, sort=field) == 0
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", f"No matching request has a value for {field}.{reason}\n")


def test_json_output_is_one_object_per_line(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.tail(settings, [], lines=3, follow=True, as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == row(namespace="followed")


def test_a_bad_filter_is_rejected_before_the_log_is_read(settings: Configuration) -> None:
    with pytest.raises(BadArgument):
        module.tail(settings, ["nonsense:x"], lines=3)


def test_without_results_it_prints_a_hint(
    settings: Configuration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneRow, "latest", lambda *_: ([], True))
    assert module.tail(settings, ["model=gpt*"], lines=3) == 0
    output = capsys.readouterr().err
    assert output.startswith("No request matches model=gpt*. A * after = is")
    assert module.tail(settings, ["model=a\x1bb"], lines=3) == 0
    assert capsys.readouterr().err.startswith("No request matches model=a\\x1bb.")
    assert module.tail(settings, [], lines=3) == 0
    assert capsys.readouterr().err == "No requests yet.\n"
