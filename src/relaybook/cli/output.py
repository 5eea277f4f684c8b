"""Format a request as one line of time, namespace, model, tokens, cost, duration, result and previews.

Unknown values are shown as ``–``, never as 0. Estimates are marked with ``≈``. Control characters in text of clients,
upstreams and servers are escaped, so that no log entry can move the cursor or color the terminal.
"""

import unicodedata
from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from relaybook.settings.routes import DEFAULT

#: A request as the API returns it.
Row = Mapping[str, Any]

UNKNOWN: Final = "–"
_NAME_WIDTH: Final = 18
#: The columns are namespace, model, tokens, cost, duration and result. The result is the last of these columns, so a
#: long result shifts only the previews.
_COLUMN_WIDTHS: Final = (_NAME_WIDTH, _NAME_WIDTH, 16, 8, 8, 20)
_PREVIEW: Final = 48
#: Unicode categories to escape: control and format characters, lone surrogates, line and paragraph separators.
_ESCAPED: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def escape(text: str, keep: str = "") -> str:
    """Escape control and format characters, line separators and lone surrogates, except those in ``keep``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in keep or unicodedata.category(char) not in _ESCAPED else _escaped(char) for char in text
    )


def plural(count: int, one: str, many: str) -> str:
    """Return the count with the singular or plural text, such as ``1 request was`` or ``2 requests were``."""
    return f"{count:,} {one if count == 1 else many}"


def one_line(row: Row) -> str:
    """Format a request as one line of columns."""
    names = (truncate_middle(escape(name), _NAME_WIDTH) for name in (row["namespace"], model(row)))
    cells = (*names, tokens(row), cost(row), duration(row), result(row))
    padded = [cell.ljust(width) for cell, width in zip(cells, _COLUMN_WIDTHS, strict=True)]
    via = [f"via {name}"] if (name := route(row)) else []
    return "  ".join([local_time(row["started_at"]), *padded, *via, previews(row)]).rstrip()


def truncate_middle(text: str, width: int) -> str:
    """Replace the middle of a text longer than ``width`` with ``…``.

    The end is kept, because many names differ only at the end.
    """
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


_SIGNS: Final = {"running": "◐", "good": "✓", "bad": "✗", "neutral": "◌"}


def result(row: Row) -> str:
    """Return the result as the page shows it: a sign (``✓``, ``✗``, ``◐`` or ``◌``) and a text."""
    if row["outcome"] == "open" and not row.get("is_served", True):
        return "◌ Unfinished"
    return f"{_SIGNS[row['result']['tone']]} {escape(row['result']['text'])}"


def tokens(row: Row) -> str:
    """Format the token counts: ``2,911 → 204``. If one count is an estimate, both get the mark ``≈``."""
    mark = "≈" if row["tokens_estimated"] else ""
    input_tokens, output_tokens = row["input_tokens"], row["output_tokens"]
    return f"{_count(input_tokens, mark)} → {_count(output_tokens, mark)}"


def cost(row: Row) -> str:
    """Format the cost as ``$0.0033``, or as ``<$0.0001`` if the cost is below $0.0001."""
    usd = row["cost_usd"]
    if usd is None:
        return UNKNOWN
    if 0 < usd < 0.0001:
        return "<$0.0001"
    mark = "≈" if row["tokens_estimated"] else ""
    # The decimal number is rounded, as on the page, and not the binary number, which may be slightly smaller.
    decimal = Decimal(str(usd)).quantize(Decimal("0.0001" if usd < 1 else "0.01"), ROUND_HALF_UP)
    return f"{mark}${decimal:,}" if usd else "$0"


def duration(row: Row) -> str:
    """Format the duration in seconds with two decimals, or in milliseconds if the duration is shorter than 10 ms."""
    milliseconds = row["duration_ms"]
    if milliseconds is None:
        return UNKNOWN
    return f"{milliseconds:.1f} ms" if milliseconds < 9.95 else f"{milliseconds / 1000:.2f} s"


def model(row: Row) -> str:
    """Return the requested model, or else the model in the response."""
    return row["model"] or row["response_model"] or UNKNOWN


def route(row: Row) -> str | None:
    """Return the name of the route, or `None` if it is the route of the setting ``upstream``."""
    return None if row["route"] == DEFAULT else escape(row["route"])


def local_time(timestamp: str) -> str:
    """Format a timestamp in the local time zone, with its offset.

    The result is a valid value of the filters ``from`` and ``to``.
    """
    return datetime.fromisoformat(timestamp).astimezone().isoformat(timespec="seconds")


def previews(row: Row) -> str:
    """Return the beginnings of prompt and response. If there is no response, the error message is used instead."""
    output = row["output_preview"] or (row["error_message"] if row["failed"] else None)
    parts = [_short(part) for part in (row["input_preview"], output) if part]
    return " → ".join(parts)


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * _PREVIEW].split())
    return escape(flat if len(flat) <= _PREVIEW else flat[: _PREVIEW - 1] + "…")


def _count(number: int | None, mark: str) -> str:
    return UNKNOWN if number is None else f"{mark}{number:,}"


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
