"""``tail`` prints what its log gives it."""

import json
from pathlib import Path

import pytest
from tests.support.rows import row

from relaybook.commands import tail as module
from relaybook.commands.failure import BadArgument
from relaybook.configuration import Configuration, resolve


class OneRow:
    """A log of one request."""

    def latest(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, object]]:
        return [row(namespace=f"{terms} {limit}")]

    def follow(self, terms: list[tuple[str, str]], limit: int) -> list[dict[str, object]]:
        return [row(namespace="followed")]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: OneRow())
    return resolve({"data": "log"}, {}, tmp_path)


def test_a_line_for_each_request(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.tail(settings, ["kind=chat"], lines=3) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "[('kind', 'chat')] 3" in line


def test_ids_stand_before_the_lines_where_they_are_wanted(
    settings: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    module.tail(settings, [], lines=3)
    module.tail(settings, [], lines=3, with_ids=True)
    without, with_id = capsys.readouterr().out.splitlines()
    assert with_id == f"{row()['id']}  {without}"


def test_json_is_one_object_a_line(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.tail(settings, [], lines=3, follow=True, as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == row(namespace="followed")


def test_a_bad_filter_is_refused_before_anything_is_read(settings: Configuration) -> None:
    with pytest.raises(BadArgument):
        module.tail(settings, ["nonsense:x"], lines=3)


def test_where_nothing_is_found_that_is_said_with_a_hint(
    settings: Configuration, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneRow, "latest", lambda *_: [])
    assert module.tail(settings, ["model=gpt*"], lines=3) == 0
    said = capsys.readouterr().err
    assert said.startswith("No request where model=gpt*. After = a * is")
    assert module.tail(settings, [], lines=3) == 0
    assert capsys.readouterr().err == "No request yet.\n"
