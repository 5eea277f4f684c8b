"""The operator's log: JSON lines on standard error, with stable ``event`` names and control characters escaped.

On a terminal the same is written for a person, and only what needs attention.
"""

import json
import logging
import sys

from relaybook import clock

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """One JSON object a line. The message is the event's name; ``extra`` are its fields. Never a header or a body."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "at": clock.format_moment(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "part": record.name.removeprefix("relaybook."),
            "event": record.getMessage(),
        }
        fields |= _extra(record)
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


class Lines(logging.Formatter):
    """For a person: ``relaybook: error: serve: child_died role=relay code=1``."""

    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{name}={_plain(str(value))}" for name, value in _extra(record).items()]
        part = record.name.removeprefix("relaybook.")
        line = " ".join([f"relaybook: {record.levelname.lower()}: {part}: {_plain(record.getMessage())}", *fields])
        if record.exc_info:
            line = "\n".join([line, *map(_plain, self.formatException(record.exc_info).splitlines())])
        return line


def log_to_stderr() -> None:
    """Sets the operator's log up for this process."""
    is_terminal = sys.stderr.isatty()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines() if is_terminal else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING if is_terminal else logging.INFO)
    for chatty in ("uvicorn", "asyncio", "httpx2", "openai"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in record.__dict__.items() if name not in _STANDARD}


def _plain(text: str) -> str:
    """The text on one line; what could steer a terminal is escaped."""
    return text if text.isprintable() else json.dumps(text)[1:-1]
