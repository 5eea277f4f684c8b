"""The words and figures in which a request is shown in one line: result, tokens, cost, time.

Unknown is ``–``, never 0; estimated is ``≈``. Text of callers and providers is shown with its control characters
escaped, so that no log entry can move the cursor or colour the screen.
"""

import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from relaybook import clock

#: A request as the API writes it.
Row = Mapping[str, Any]

UNKNOWN: Final = "–"
_WIDTHS: Final = (12, 14, 15, 13, 8, 7)
_PREVIEW: Final = 48
#: Control and format characters, lone surrogates, line and paragraph separators; some change how others are shown.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def escape(text: str, keep: str = "") -> str:
    """The text with control characters, direction marks and lone surrogates as escapes, but for those in ``keep``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter if letter in keep or unicodedata.category(letter) not in _HIDDEN else _escaped(letter) for letter in text
    )


def is_text(argument: str) -> bool:
    """False of an argument that is not UTF-8: Python hands its odd bytes on as lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in argument)


def may_be_id(text: str) -> bool:
    """Whether the log can be asked for it as an id: it is text, and not the path of a body, which lies below its id."""
    return is_text(text) and not text.endswith(("/request", "/response"))


def one_line(row: Row, day: date) -> str:
    """A request in one line; the day stands before the time when it is not ``day``."""
    cells = (escape(row["namespace"]), escape(model(row)), result(row), tokens(row), cost(row), duration(row))
    padded = [cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)]
    return "  ".join([clock_time(row["started_at"], day), *padded, question_and_answer(row)]).rstrip()


def result(row: Row) -> str:
    """How it ended and by whom, in two or three words."""
    outcome, status = row["outcome"], row["status"]
    if outcome == "open":
        return "◐ running" if row.get("is_served", True) else "◌ unfinished"
    if outcome == "interrupted":
        return "✗ relay stopped"
    if outcome == "client_closed" and not row["failed"]:
        return "◌ caller left"
    if outcome == "upstream_failed":
        return "✗ no provider" if row["error_code"] == "upstream_unreachable" else "✗ provider cut"
    if outcome == "refused":
        return f"✗ {status} refused" if status else "✗ refused"
    if row["failed"]:
        return f"✗ {status} provider"
    return f"✓ {status} tools" if row["finish_reason"] == "tool_calls" else f"✓ {status}"


def tokens(row: Row) -> str:
    """``2,911 → 204``; both are estimated where one is."""
    about = "≈" if row["tokens_estimated"] else ""
    before, after = row["input_tokens"], row["output_tokens"]
    return f"{_count(before, about)} → {_count(after, about)}"


def cost(row: Row) -> str:
    """``$0.0033``; what is less than a hundredth of a cent says so."""
    usd = row["cost_usd"]
    if usd is None:
        return UNKNOWN
    if 0 < usd < 0.0001:
        return "<$0.0001"
    about = "≈" if row["tokens_estimated"] else ""
    return about + (f"${usd:.4f}" if 0 < usd < 1 else f"${usd:,.2f}" if usd else "$0")


def duration(row: Row) -> str:
    """Seconds with two decimals."""
    return UNKNOWN if row["duration_ms"] is None else f"{row['duration_ms'] / 1000:.2f} s"


def model(row: Row) -> str:
    """The model asked for, else the one that answered."""
    return row["model"] or row["response_model"] or UNKNOWN


def clock_time(timestamp: str, day: date) -> str:
    """The moment in the reader's time zone, with its date when that is not ``day``."""
    local = datetime.fromisoformat(timestamp).astimezone()
    return local.strftime("%H:%M:%S" if local.date() == day else "%Y-%m-%d %H:%M:%S")


def today() -> date:
    """This day in the reader's time zone."""
    return datetime.fromtimestamp(clock.wall_us() / 1e6).astimezone().date()


def question_and_answer(row: Row) -> str:
    """The beginnings of prompt and answer, or the error's words."""
    answer = row["output_preview"] or (row["error_message"] if row["failed"] else None)
    parts = [_short(part) for part in (row["input_preview"], answer) if part]
    return " → ".join(parts)


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * _PREVIEW].split())
    return escape(flat if len(flat) <= _PREVIEW else flat[: _PREVIEW - 1] + "…")


def _count(number: int | None, about: str) -> str:
    return UNKNOWN if number is None else f"{about}{number:,}"


def _escaped(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
