"""``show`` prints the request it found."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.rows import detail

from relaybook.commands import show as module
from relaybook.commands.failure import CommandFailed
from relaybook.configuration import Configuration, resolve


class OneDetail:
    """A log that knows the id ``known``."""

    def find(self, text: str) -> dict[str, Any] | None:
        return detail(namespace="ios") if text == "known" else None


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: OneDetail())
    return resolve({"data": "log"}, {}, tmp_path)


def test_the_request_is_printed(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.show(settings, "known") == 0
    assert "namespace   ios\n" in capsys.readouterr().out


def test_json_is_the_whole_detail(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.show(settings, "known", as_json=True)
    assert json.loads(capsys.readouterr().out) == detail(namespace="ios")


def test_an_unknown_id_is_a_failure(settings: Configuration) -> None:
    with pytest.raises(CommandFailed, match=r"has the id no\\x1b: not as ours"):
        module.show(settings, "no\x1b")


def test_bytes_that_are_no_text_are_no_id(settings: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OneDetail, "find", lambda _, text: text.encode())
    with pytest.raises(CommandFailed, match=r"has the id caf\\udce9: not as ours"):
        module.show(settings, "caf\udce9")
