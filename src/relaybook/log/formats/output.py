"""Put the parts of an output together from deltas and snapshots.

A delta adds to the text of a part. A snapshot is the whole text: it replaces what came before, and never adds to it.
"""

import re
from typing import Any, Final

from relaybook.log.formats.conversation import Media, Output, Part, PartKind
from relaybook.log.formats.lenient import join
from relaybook.log.formats.text import NAME_CHARACTERS, clean_or_none

#: Fields that are not shown. ``obfuscation`` is random padding against traffic analysis.
DROPPED: Final = frozenset({"obfuscation"})
_MAX_DEPTH: Final = 100
#: Texts that are whole in each event. ``channel`` is the kind of output of gpt-oss models.
_REPEATED: Final = frozenset({"id", "type", "channel", "object", "model", "role"})
#: What decides whether JSON is complete. A backslash at the end of a fragment escapes the next fragment's first letter.
_NESTING: Final = re.compile(r"""\\.?|["{}\[\]]""", re.DOTALL)


class _Nesting:
    """Tells whether a JSON object or list that arrives in fragments is complete. Each fragment is scanned once."""

    __slots__ = ("_depth", "_in_string", "_is_escaped", "_scanned", "_started")

    def __init__(self) -> None:
        self._scanned = self._depth = 0
        self._in_string = self._is_escaped = self._started = False

    def is_complete(self, fragments: list[str]) -> bool:
        for text in fragments[self._scanned :]:
            self._scan(text)
        self._scanned = len(fragments)
        return self._started and self._depth == 0 and not self._in_string

    def _scan(self, text: str) -> None:
        start = self._is_escaped and bool(text)
        self._is_escaped = self._is_escaped and not text
        for mark in _NESTING.findall(text, start):
            if mark[0] == "\\":
                self._is_escaped = len(mark) == 1
            elif mark == '"':
                self._in_string = not self._in_string
            elif not self._in_string:
                self._depth += 1 if mark in "{[" else -1
                self._started = True


class PartBuilder:
    """One part so far. ``texts``, ``names`` and ``arguments`` have the fragments in which they arrived."""

    __slots__ = ("_nesting", "arguments", "id", "kind", "media", "names", "other", "texts", "type")

    def __init__(self, kind: PartKind) -> None:
        self.kind = kind
        self.texts: list[str] = []
        self.names: list[str] = []
        self.arguments: list[str] = []
        self.id: str | None = None
        self.type: str | None = None
        self.media: Media | None = None
        self.other: dict[str, Any] = {}
        self._nesting: _Nesting | None = None

    def name(self) -> str:
        """Return the name so far."""
        return "".join(self.names)

    def add_name(self, fragment: str) -> None:
        """Add a fragment of the name. Some servers repeat the whole name in each fragment instead."""
        name = self.name()
        if fragment != name and len(name) < NAME_CHARACTERS:
            self.names.append(fragment)

    def has_whole_arguments(self) -> bool:
        """Return whether the arguments so far are a complete JSON object or list."""
        if self._nesting is None:
            self._nesting = _Nesting()
        return self._nesting.is_complete(self.arguments)

    def part(self) -> Part:
        """Return the part with everything added so far."""
        part = Part(
            kind=self.kind,
            text=join(self.texts) or None,
            name=clean_or_none(join(self.names)),
            id=clean_or_none(self.id),
            media=self.media,
            type=clean_or_none(self.type),
        )
        if self.kind == "tool_call":
            part.arguments = join(self.arguments)
        if self.other:
            join_merged(self.other)
            part.other = self.other
        return part


def snapshot(fragments: list[str], whole: object) -> None:
    """Replace the fragments of a text by the whole text. A text that is empty or missing replaces nothing."""
    if isinstance(whole, str) and whole:
        fragments[:] = [whole]


def add_fragment(fragments: list[str], fragment: object) -> None:
    """Add a fragment of a text. A fragment that is empty or missing adds nothing."""
    if isinstance(fragment, str) and fragment:
        fragments.append(fragment)


def has_content(part: Part) -> bool:
    """Return whether there is anything to show of a part."""
    return bool(part.text or part.kind in ("tool_call", "tool_result") or part.media or part.other)


class OutputBuilder:
    """The fields of one output so far."""

    __slots__ = ("finish_reason", "index", "other")

    def __init__(self, index: int) -> None:
        self.index = index
        self.finish_reason: str | None = None
        self.other: dict[str, Any] = {}

    def output(self, parts: list[Part]) -> Output:
        """Return the output with its parts. Parts without any content are left out."""
        join_merged(self.other)
        return Output(
            index=self.index,
            parts=[part for part in parts if has_content(part)],
            finish_reason=clean_or_none(self.finish_reason),
            other=self.other,
        )


class _JoinedText:
    """A text that arrives in fragments, one per event."""

    __slots__ = ("texts",)

    def __init__(self, text: str) -> None:
        self.texts = [text]


def merge(into: dict[str, Any], more: dict[str, Any], *, joins_texts: bool = True, depth: int = _MAX_DEPTH) -> None:
    """Merge the fields of an event into ``into``.

    Texts and lists are joined, and objects are merged. All other values are replaced. The texts in ``_REPEATED`` are
    also replaced, and without ``joins_texts`` all texts. This function collects the fragments of a text without
    joining them; ``join_merged`` later joins them all at once. So merging many events takes linear time.
    """
    for name, value in more.items():
        if name in DROPPED or (value is None and name in into):
            continue
        before = into.get(name)
        if isinstance(before, dict) and isinstance(value, dict) and depth:
            merge(before, value, joins_texts=joins_texts, depth=depth - 1)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(value)
        elif joins_texts and isinstance(before, str | _JoinedText) and isinstance(value, str) and name not in _REPEATED:
            joined = into[name] = before if isinstance(before, _JoinedText) else _JoinedText(before)
            joined.texts.append(value)
        else:
            into[name] = value


def join_merged(merged: dict[str, Any], depth: int = _MAX_DEPTH) -> None:
    """Join the texts of merged fields, in place. Call it once, after the last ``merge``."""
    for name, value in merged.items():
        if isinstance(value, _JoinedText):
            merged[name] = join(value.texts)
        elif isinstance(value, dict) and depth:
            join_merged(value, depth - 1)
