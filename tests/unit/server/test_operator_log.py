"""Test that the operator's log is JSON or sentences, and that it never contains control characters."""

import ast
import io
import json
import logging
import string
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.tree import source_files

from relaybook.server.operator_log import SENTENCES, JsonFormatter, Lines, log_to_stderr


def event(message: str, **extra: Any) -> logging.LogRecord:
    record = logging.LogRecord("relaybook.server", logging.ERROR, "", 0, message, (), None)
    record.__dict__.update(extra)
    return record


def test_json_lines_contain_event_and_fields() -> None:
    line = json.loads(JsonFormatter().format(event("child_died", role="relay", code=1)))
    assert line.pop("at").endswith("Z")
    assert line == {"level": "error", "part": "server", "event": "child_died", "role": "relay", "code": 1}


def test_an_event_is_a_sentence_on_a_terminal() -> None:
    line = Lines().format(event("child_died", role="recorder", code=1, restart_ms=100))
    assert line == "relaybook: recorder exited with code 1 and will be restarted in 100 ms"


def test_a_message_without_a_sentence_is_followed_by_its_fields() -> None:
    line = Lines().format(event("Something else", path="/v1", tries=2))
    assert line == "relaybook: Something else path=/v1 tries=2"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\u202eevil", "two\nlines"])
def test_control_characters_are_escaped(hostile: str) -> None:
    for record in (event(hostile, reason=hostile), event("log_unavailable", reason=hostile)):
        assert JsonFormatter().format(record).isprintable()
        assert Lines().format(record).isprintable()


def test_a_traceback_follows_the_sentence() -> None:
    record = event("relay_failed")
    try:
        raise ValueError("\x1b[31mred")
    except ValueError:
        record.exc_info = sys.exc_info()
    lines = Lines().format(record).split("\n")
    assert lines[0] == "relaybook: the relay failed and is being restarted. Please report this error:"
    assert lines[-1] == "ValueError: \\u001b[31mred"


class Stderr(io.StringIO):
    """A fake standard error stream that can claim to be a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """Yield the root logger, and restore it after the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("root_logger")
@pytest.mark.parametrize(("is_terminal", "count"), [(True, 1), (False, 2)])
def test_routine_events_are_not_shown_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, count: int
) -> None:
    stderr = Stderr(is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    log_to_stderr()
    log = logging.getLogger("relaybook.server")
    log.info("child_started", extra={"role": "relay", "pid": 1})
    log.error("child_died", extra={"role": "relay", "code": 1, "restart_ms": 100})
    lines = stderr.getvalue().splitlines()
    assert len(lines) == count
    assert [line.startswith("{") for line in lines] == [not is_terminal] * count


def logged_events() -> Iterator[tuple[str, set[str]]]:
    """Yield the name and the fields of every warning and error that the source logs."""
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Name(id="log" | "_log"), attr="warning" | "error" | "critical" | "exception"
                    ),
                    args=[ast.Constant(value=str(name))],
                    keywords=keywords,
                ):
                    extra = next((each.value for each in keywords if each.arg == "extra"), ast.Dict([], []))
                    assert isinstance(extra, ast.Dict)
                    yield name, {str(key.value) for key in extra.keys if isinstance(key, ast.Constant)}


def test_every_warning_and_error_has_a_sentence_with_its_fields() -> None:
    events = dict(logged_events())
    assert set(SENTENCES) == set(events)
    for name, sentence in SENTENCES.items():
        assert {field for _, field, _, _ in string.Formatter().parse(sentence) if field} <= events[name], name
