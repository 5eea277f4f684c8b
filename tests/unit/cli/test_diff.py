"""Test that ``diff`` prints the differences between two requests in 80 columns."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.api_log import client_of
from tests.support.memory_store import MemoryStore
from tests.unit.log.comparison.test_comparison import CHAT, QUESTION, SYSTEM, compared

from relaybook.cli import diff as module
from relaybook.cli.diff import report
from relaybook.cli.failure import CommandFailed
from relaybook.cli.wrapping import width_of, wrapped
from relaybook.settings.configuration import Configuration, resolve

LONG = "Answer in one sentence. " * 20
SYSTEM_MESSAGE = {"role": "system", "content": f"{LONG}{SYSTEM} {LONG}"}
OTHER_MESSAGE = {"role": "system", "content": SYSTEM_MESSAGE["content"].replace("orders", "teas\x1b[2J")}
A = {**CHAT, "messages": [SYSTEM_MESSAGE, QUESTION]}
B = {**CHAT, "temperature": 1.5, "messages": [OTHER_MESSAGE, QUESTION], "user": "ann"}


def test_the_report_has_only_the_differences_marked_with_signs() -> None:
    of_a = {"duration_ms": 1034.0, "first_token_ms": 34.0, "output_tokens": 50}
    of_b = {"duration_ms": 1234.0, "first_token_ms": 234.0, "output_tokens": 60}
    found = compared(A, B, of_a=of_a, namespace="ios", user="ann", **of_b)
    lines = report(found).splitlines()
    assert lines[0].startswith("a  00000000-0000-7000-8000-000000000000")
    assert "   ios  gpt-4o-mini  ✓ 200" in lines
    assert "Differences (timing not counted): user, namespace, 1 parameter, system prompt." in lines
    assert "── namespace and properties" in lines
    assert "   temperature           0.5 → 1.5" in lines
    assert "   duration              1.03 s → 1.23 s" in lines
    assert "   tokens/s              50 → 60" in lines
    text = " ".join(line.strip() for line in lines)
    assert "You answer questions about [-orders-]{+teas\\x1b[2J+}. Answer" in text
    assert " characters …" in text
    assert QUESTION["content"] not in text
    assert max(map(width_of, lines)) <= 80


def test_long_values_stand_below_each_other() -> None:
    message = "The upstream reset the connection in the middle of its response. The request was sent."
    lines = report(compared(error_message=message)).splitlines()
    at = lines.index("   error message         –")
    assert lines[at + 1 : at + 3] == [
        "                       → The upstream reset the connection in the middle of its",
        "                         response. The request was sent.",
    ]


def test_estimates_have_a_sign() -> None:
    of_a = {"input_tokens": 1250, "output_tokens": 50, "duration_ms": 1034.0, "first_token_ms": 34.0}
    of_b = {"input_tokens": 1251, "output_tokens": 60, "duration_ms": 1234.0, "first_token_ms": 234.0}
    lines = report(compared(of_a=of_a, **of_b, tokens_estimated=True)).splitlines()
    assert "   input tokens          1,250 → ≈1,251" in lines
    assert "   output tokens         50 → ≈60" in lines
    assert "   tokens/s              50 → ≈60" in lines


def test_the_end_of_a_stream_is_said_in_words() -> None:
    found = report(compared(of_a={"stream_ended": "done"}, stream_ended="cut"))
    assert "   end of stream         complete → interrupted" in found.splitlines()


def test_a_terminal_has_colors_besides_the_signs() -> None:
    text = report(compared(A, B), has_color=True)
    assert "\x1b[31m[-orders-]\x1b[0m" in text
    assert report(compared(A, B)).count("\x1b") == 0


def test_equal_requests_have_a_short_report() -> None:
    assert report(compared()).splitlines()[-1] == "The requests are equal."


@pytest.mark.parametrize("text", ["word " * 100, "x" * 500, "退款" * 100, "a\n\nb\tc", "e\u0301" * 200])
def test_lines_fit_and_nothing_is_lost(text: str) -> None:
    lines = list(wrapped([("", text[:50]), ("added", text[50:])], 40, "   ", {}))
    assert max(map(width_of, lines)) <= 40
    assert "".join("".join(lines).split()) == "".join(text.split())


class FakeLog:
    """A fake log with the requests ``a`` and ``b``. Only ``b`` has a successful request that is like it."""

    def find(self, text: str) -> dict[str, Any] | None:
        return {} if text in ("a", "b") else None

    def compare(self, a: str, b: str) -> dict[str, Any] | None:
        return compared(A, B) if {a, b} <= {"a", "b"} else None  # type: ignore[no-any-return]

    def last_good(self, text: str) -> dict[str, Any] | None:
        found = {"request": {"id": "a"}, "is_alike": text == "b", "message": "The last successful request."}
        return found if text in ("a", "b") else None

    def lag_seconds(self) -> float:
        return 0.0


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: FakeLog())
    return resolve({"data": "log"}, {}, tmp_path)


def test_the_last_good_request_is_compared(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.diff(settings, "b", None, with_last_good=True) == 0
    assert capsys.readouterr().out.startswith("The last successful request.\n\na  0000")
    assert module.diff(settings, "b", None, with_last_good=True, as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["last_good"]["is_alike"], printed["comparison"]["a"]["id"][:4]) == (True, "0000")


def test_without_a_good_request_the_nearest_is_offered(
    settings: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    assert module.diff(settings, "a", None, with_last_good=True) == 1
    assert capsys.readouterr().out.endswith("To compare with it, run relaybook diff a a\n")


@pytest.mark.parametrize(("ids", "unknown"), [(("a", "x"), "x"), (("x", "a"), "x"), (("\udc80", "a"), "\\\\udc80")])
def test_an_unknown_id_is_a_failure(settings: Configuration, ids: tuple[str, str], unknown: str) -> None:
    with pytest.raises(CommandFailed, match=f"has the id {unknown}\\."):
        module.diff(settings, *ids, with_last_good=False)
    with pytest.raises(CommandFailed, match="has the id x"):
        module.diff(settings, "x", None, with_last_good=True)


def test_the_api_of_an_empty_log_knows_no_request() -> None:
    assert client_of(MemoryStore()).get("/api/requests/x/last-good").status == 404
