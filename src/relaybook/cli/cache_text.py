"""Format what was read from the provider's cache as text (see ``GET /api/requests/{id}/cache``)."""

from collections.abc import Iterator
from typing import Any, Final

from relaybook.cli.output import UNKNOWN, cost, escape

_LABEL_WIDTH: Final = 12
_MARKS: Final = ("⟨", "⟩")


def cache_line(report: dict[str, Any]) -> str:
    """Return the report in one line, or an empty text if the request is compared with nothing."""
    if report["compared_with"] is None:
        return ""
    text = "" if report["state"] == "cached" and report["change"] is None else report["text"]
    return ". ".join(filter(None, (_tokens(report), " ".join(filter(None, (text, _missed(report)))))))


def cache_text(report: dict[str, Any]) -> str:
    """Return the whole report, without a final newline."""
    fields = [f"{label.ljust(_LABEL_WIDTH)}{escape(text)}" for label, text in _fields(report) if text]
    return "\n".join(fields)


def _fields(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "cache", " ".join(filter(None, (report["text"], _missed(report))))
    earlier, seconds = report["compared_with"], report["seconds_between"]
    yield "before", "" if earlier is None else f"{earlier}, {seconds:,.1f} s earlier"
    yield "input", f"{_count(report['input_tokens'])} tokens"
    yield "tokens", "" if earlier is None else _tokens(report)
    if report["equal_characters"] is not None:
        yield "equal", f"{report['equal_characters']:,} characters{_estimate(report['equal_tokens'])} from the start"
    written = report["written_tokens"]
    hour = report["written_1h_tokens"]
    yield "written", "" if written is None else f"{written:,} tokens{f', {hour:,} of them for an hour' if hour else ''}"
    if (change := report["change"]) is not None:
        yield "change", f"{change['where']}: {change['what']}"
        for name in ("before", "after"):
            text = f"…{change['leading']}{_MARKS[0]}{change[name]}{_MARKS[1]}{change['trailing']}…"
            yield f" {name}", text.replace("\n", "⏎")
    for section in report["sent"]:
        yield (
            section["section"],
            f"{section['items']:,} × , {section['characters']:,} characters{_estimate(section['tokens'])}, "
            f"{section['equal_characters']:,} characters equal".replace(" × ,", "×,"),
        )


def _tokens(report: dict[str, Any]) -> str:
    again, cached = report["sent_again_tokens"], report["cached_tokens"]
    if again is None and cached is None:
        return ""
    share = f" ({min(100, 100 * cached // again)} %)" if again and cached else ""
    amount = UNKNOWN if cached is None else "none" if cached == 0 else f"{cached:,}"
    return f"same start as an earlier request{_estimate(again, ': ')}, {amount} cached{share}"


def _missed(report: dict[str, Any]) -> str:
    if not report["missed_tokens"]:
        return ""
    usd = report["missed_usd"]
    more = "" if usd is None else f", about {cost({'cost_usd': usd, 'tokens_estimated': False})} more"
    return f"≈{report['missed_tokens']:,} tokens were not cached{more}."


def _estimate(tokens: int | None, before: str = ", ") -> str:
    """Return an estimated number of tokens after ``before``, or an empty text if it is unknown."""
    return "" if tokens is None else f"{before}≈{tokens:,} tokens"


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"
