"""The operator's log: JSON lines on standard error, with stable ``event`` names and control characters escaped."""

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
        fields |= {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


def log_to_stderr() -> None:
    """Sets the operator's log up for this process. On a terminal only what needs attention is shown."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
