"""The operator's log: one line an event, for programs and for people, and nothing in it steers a terminal."""

import json
import logging
import sys
from typing import Any

import pytest

from relaybook.serve.operator_log import JsonLines, Lines


def event(message: str, **extra: Any) -> logging.LogRecord:
    record = logging.LogRecord("relaybook.serve", logging.ERROR, "", 0, message, (), None)
    record.__dict__.update(extra)
    return record


def test_a_program_gets_json() -> None:
    line = json.loads(JsonLines().format(event("child_died", role="relay", code=1)))
    assert line.pop("at").endswith("Z")
    assert line == {"level": "error", "part": "serve", "event": "child_died", "role": "relay", "code": 1}


def test_a_person_gets_a_line() -> None:
    line = Lines().format(event("child_died", role="relay", code=1))
    assert line == "relaybook: error: serve: child_died role=relay code=1"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\u202eevil", "two\nlines"])
def test_what_could_steer_a_terminal_is_escaped(hostile: str) -> None:
    for line in (JsonLines().format(event(hostile, reason=hostile)), Lines().format(event(hostile, reason=hostile))):
        assert line.isprintable()


def test_a_person_sees_where_an_error_came_from() -> None:
    record = event("failed")
    try:
        raise ValueError("\x1b[31mred")
    except ValueError:
        record.exc_info = sys.exc_info()
    lines = Lines().format(record).split("\n")
    assert lines[0] == "relaybook: error: serve: failed"
    assert lines[-1] == "ValueError: \\u001b[31mred"
