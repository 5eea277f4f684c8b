"""``relaybook diff``: print what differs between two requests."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import UNKNOWN, cost, duration, escape, local_time, model, plural, result, truncate_middle
from relaybook.cli.source import LogSource, open_log
from relaybook.cli.terms import lag_hint
from relaybook.cli.wrapping import Styled, wrapped
from relaybook.log.descriptions import FIELDS
from relaybook.settings.configuration import Configuration
from relaybook.settings.definitions import is_utf8

_WIDTH: Final = 80
_INDENT: Final = "   "
_LABEL_WIDTH: Final = 21
#: The titles of groups of facts that are not their names.
_TITLES: Final = {"tags": "namespace and properties", "usage": "tokens and cost"}
_KEEP: Final = "\n\t"
#: Removed text is between ``[-`` and ``-]``, and added text between ``{+`` and ``+}``, as GNU wdiff prints them.
_MARKS: Final = {"equal": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
_COLORS: Final = {"removed": "\x1b[31m", "added": "\x1b[32m"}
_TOO_DIFFERENT: Final = "Too different to compare word by word."
#: The sign and the word for messages that are only counted.
_RUNS: Final = {"equal": ("=", "equal"), "more": ("…", "more different")}
_SIDES: Final = {"removed": "only in a", "added": "only in b", "changed": ""}


def report(comparison: dict[str, Any], *, has_color: bool = False) -> str:
    """Format a comparison (see ``GET /api/compare``) as text, without a final newline."""
    return "\n".join(_Report(comparison, has_color).lines())


class _Report:
    def __init__(self, comparison: dict[str, Any], has_color: bool) -> None:
        self._comparison = comparison
        self._has_color = has_color

    def lines(self) -> Iterator[str]:
        comparison = self._comparison
        for side in ("a", "b"):
            row = comparison[side]
            yield f"{side}  {row['id']}  {local_time(row['started_at'])}"
            name = f"{truncate_middle(escape(row['namespace']), 24)}  {truncate_middle(escape(model(row)), 24)}"
            yield f"{_INDENT}{name}  {result(row)}"
        yield from ("", *self._wrapped([("", comparison["summary"])], ""))
        for missing in comparison["missing"]:
            yield from self._wrapped([("", f"{missing['side']}, {missing['body']}: {missing['message']}")], "")
        for group, facts in groupby(comparison["facts"], lambda fact: fact["group"]):
            yield from self._section(_TITLES.get(group, group), (self._fact(fact) for fact in facts))
        yield from self._section("parameters", map(self._value, comparison["parameters"]))
        yield from self._section("system prompt", map(self._message, comparison["system"]))
        yield from self._section("tools", map(self._tool, comparison["tools"]))
        yield from self._section("messages", map(self._message, comparison["messages"]))
        yield from self._section("response", map(self._message, comparison["response"]))

    def _section(self, title: str, blocks: Iterable[Iterable[str]]) -> Iterator[str]:
        lines = [line for block in blocks for line in block]
        if lines:
            yield from ("", f"── {title}", *lines)

    def _fact(self, fact: dict[str, Any]) -> Iterator[str]:
        texts = [_fact_text(fact["name"], fact[side], self._comparison[side]) for side in ("a", "b")]
        return self._pair(fact["label"], texts[0], texts[1])

    def _value(self, value: dict[str, Any]) -> Iterator[str]:
        if "text" in value:
            yield f"{_INDENT}{escape(value['name'])}"
            yield from self._text(value["text"])
            return
        texts = [escape(value[side]) if side in value else "not set" for side in ("a", "b")]
        yield from self._pair(value["name"], texts[0], texts[1])

    def _pair(self, name: str, a: str, b: str) -> Iterator[str]:
        """Yield a name and its two values, on one line if they fit."""
        label = escape(name).ljust(_LABEL_WIDTH)
        removed, added = (("removed", a), ("added", b))
        if len(_INDENT) + len(label) + len(a) + len(b) + 4 <= _WIDTH:
            yield from self._wrapped([("", f"{label} "), removed, ("", " → "), added])
            return
        indent = _INDENT + " " * (_LABEL_WIDTH + 1)
        for head, value in ((label, removed), ("→".rjust(_LABEL_WIDTH), added)):
            first, *rest = [*self._wrapped([value], indent)] or [indent]
            yield f"{_INDENT}{head} {first[len(indent) :]}".rstrip()
            yield from rest

    def _tool(self, tool: dict[str, Any]) -> Iterator[str]:
        yield f"{_INDENT}{_title(tool['name'], tool['kind'])}"
        yield from self._text(tool.get("text"))

    def _message(self, message: dict[str, Any]) -> Iterator[str]:
        if message["kind"] in _RUNS:
            sign, word = _RUNS[message["kind"]]
            count = message.get("count", 1)
            yield f"{_INDENT}{sign} {plural(count, f'{word} message', f'{word} messages')}"
            return
        name = " ".join(filter(None, (message.get("role") or UNKNOWN, message.get("name"))))
        yield f"{_INDENT}{_title(name, message['kind'])}"
        yield from self._text(message.get("text"))
        for field in message.get("fields", ()):
            yield from self._value(field)

    def _text(self, text: dict[str, Any] | None) -> Iterator[str]:
        if text is None:
            return
        if text.get("too_different"):
            yield f"{_INDENT}{_INDENT}{_TOO_DIFFERENT}"
        segments = [segment for piece in text["pieces"] for segment in _segments(piece)]
        yield from self._wrapped(segments, _INDENT * 2)
        if "more" in text:
            yield f"{_INDENT}{_INDENT}… {plural(text['more'], 'more difference', 'more differences')}"

    def _wrapped(self, segments: list[Styled], indent: str = _INDENT) -> Iterator[str]:
        return wrapped(segments, _WIDTH, indent, _COLORS if self._has_color else {})


def _segments(piece: dict[str, Any]) -> Iterator[Styled]:
    kind = piece["kind"]
    before, after = _MARKS[kind]
    style = "" if kind == "equal" else kind
    text, end = (escape(piece.get(name, ""), _KEEP) for name in ("text", "end"))
    if "omitted" not in piece:
        yield style, f"{before}{text}{after}"
        return
    yield style, f"{before}{text}"
    yield "", f" … {plural(piece['omitted'], 'character', 'characters')} … "
    yield style, f"{end}{after}"


def _title(name: str, kind: str) -> str:
    side = _SIDES[kind]
    return f"{escape(name)}{f' ({side})' if side else ''}"


def _fact_text(name: str, value: Any, row: dict[str, Any]) -> str:
    if value is None:
        return UNKNOWN
    if name == "result":
        return result(row)
    if name == "cost_usd":
        return cost(row)
    if name.endswith("_ms"):
        return duration({"duration_ms": value})
    mark = "≈" if row["tokens_estimated"] else ""
    if name == "tokens_per_second":
        return f"{mark}{value:.1f}" if value < 9.95 else f"{mark}{value:,.0f}"
    if name in ("input_tokens", "output_tokens"):
        return f"{mark}{value:,}"
    if name == "stream_ended":
        return FIELDS[name].choices[value]
    return f"{value:,}" if isinstance(value, int | float) else escape(str(value))


def diff(
    configuration: Configuration, first: str, second: str | None, *, with_last_good: bool, as_json: bool = False
) -> int:
    """Print what differs between two requests, or between a request and the last successful request.

    The exit code is 1 if no successful request has the same prompt. Raises CommandFailed if no request has an id.
    """
    log = open_log(configuration)
    found: dict[str, Any] | None = None
    if with_last_good:
        found = _found(log, log.last_good(first) if is_utf8(first) else None, first)
        ids = (found["request"]["id"], first) if found["is_alike"] else None
    else:
        ids = (first, second or "")
    comparison = None if ids is None else log.compare(*ids) if all(map(is_utf8, ids)) else None
    if ids is not None and comparison is None:
        missing = next((each for each in ids if not is_utf8(each) or log.find(each) is None), ids[1])
        raise _unknown(log, missing)
    if as_json:
        print(json.dumps(comparison if found is None else {"last_good": found, "comparison": comparison}))
    else:
        if found is not None:
            print(f"{_message(found)}\n" if comparison else _without_alike(found, first))
        if comparison is not None:
            print(report(comparison, has_color=_has_color()))
    return 0 if comparison is not None else 1


def _without_alike(found: dict[str, Any], any_id: str) -> str:
    """Say that there is no successful request with the same prompt, and how to compare with the nearest."""
    message = _message(found)
    if found["request"] is None:
        return message
    return f"{message}\nTo compare with it, run relaybook diff {found['request']['id']} {escape(any_id)}"


def _message(found: dict[str, Any]) -> str:
    return "\n".join(wrapped([("", escape(found["message"]))], _WIDTH, "", {}))


def _found(log: LogSource, found: dict[str, Any] | None, any_id: str) -> dict[str, Any]:
    if found is None:
        raise _unknown(log, any_id)
    return found


def _unknown(log: LogSource, any_id: str) -> CommandFailed:
    return CommandFailed(
        f"No request in the log has the id {escape(any_id[:80])}.{lag_hint(log)} "
        "relaybook tail --ids prints the ids of the latest requests."
    )


def _has_color() -> bool:
    """Return whether standard output is a terminal, and colors are not turned off (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
