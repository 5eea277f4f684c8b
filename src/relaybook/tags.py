"""Parse the tags of a request: namespace, properties and log mode. This module does no I/O.

A tag never makes a request fail. If a value cannot be kept as sent, it is adjusted or dropped, and the record and the
response contain a warning. Values are percent-decoded as UTF-8, normalized to NFC and trimmed. The case of values is
kept. The body's ``metadata`` also becomes properties, after the headers of the response are sent.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote, unquote_to_bytes

import msgspec

MAX_CHARACTERS: Final = 256
MAX_PROPERTIES: Final = 64
_TRUNCATED_CHARACTERS: Final = MAX_CHARACTERS - 17
#: Only this many characters are normalized, because normalizing a run of combining marks takes quadratic time. Longer
#: text is truncated anyway.
_MAX_NORMALIZED: Final = 1024
#: Longer values are not cached, because clients choose the values and thousands of long values would stay in memory.
_MAX_CACHED_BYTES: Final = 1024
_MAX_CACHED_TAGS_BYTES: Final = 4096
#: Warnings show only this many characters of a header's name, because many clients reject responses with long headers.
_MAX_SHOWN: Final = 80
_BROKEN_PERCENT: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
#: Control characters, and lone surrogates, which cannot be stored.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_KNOWN_TAGS: Final = ("namespace", "log", "property-")

WarningCode = Literal[
    "namespace_cut",
    "value_cut",
    "control_characters_replaced",
    "not_utf8",
    "duplicate_tag",
    "too_many_properties",
    "empty_property_name",
    "unknown_header",
    "unknown_log_value",
]
LogMode = Literal["full", "no-bodies"]
T = TypeVar("T")


class TagWarning(NamedTuple):
    """A warning about a tag: the code of the warning, and a message for people."""

    code: WarningCode
    message: str


class Tags(msgspec.Struct, frozen=True):
    """The tags of a request.

    ``prefix`` is the tag prefix to use in response headers. ``echo`` is the namespace as ASCII, for the response
    header.
    """

    namespace: str
    properties: dict[str, str]
    log: LogMode
    warnings: tuple[TagWarning, ...]
    prefix: str
    echo: bytes


class Cleaned(msgspec.Struct, frozen=True):
    """The text of a tag's value after all adjustments, and the warning codes of the adjustments."""

    text: str
    changes: tuple[WarningCode, ...] = ()


def clean(raw: bytes) -> Cleaned:
    """Decode a tag's value, normalize and trim the text, replace control characters, and truncate long text."""
    return _cached(raw) if len(raw) <= _MAX_CACHED_BYTES else _clean(raw)


def _clean(raw: bytes) -> Cleaned:
    text, is_utf8 = _decode(raw)
    cleaned = _clean_text(text)
    return cleaned if is_utf8 else Cleaned(cleaned.text, ("not_utf8", *cleaned.changes))


def _clean_text(text: str) -> Cleaned:
    changes: list[WarningCode] = []
    text = (unicodedata.normalize("NFC", text[:_MAX_NORMALIZED]) + text[_MAX_NORMALIZED:]).strip()
    if _CONTROL.search(text):
        text = _CONTROL.sub("\ufffd", text)
        changes.append("control_characters_replaced")
    if len(text) > MAX_CHARACTERS:
        text = shortened(text)
        changes.append("value_cut")
    return Cleaned(text, tuple(changes))


def property_name(name: str) -> str:
    """Return the name under which a property is stored, or an empty text if nothing is left of the name."""
    return _clean_name(name).text


def _clean_name(name: str) -> Cleaned:
    lower_name = name.lower().replace("_", "-")
    return _cached_name(lower_name) if len(lower_name) <= MAX_CHARACTERS else _clean_text(lower_name)


_cached_name = lru_cache(4096)(_clean_text)


def with_metadata(
    properties: Mapping[str, str], metadata: Iterable[tuple[str, str]]
) -> tuple[dict[str, str], list[TagWarning]]:
    """Return the properties of the headers and the body's metadata, and the warnings about the metadata.

    Names and values of the metadata are adjusted like those of headers, but are not percent-decoded. If a header has
    the same name, the header wins. Only the first ``MAX_PROPERTIES`` properties are kept.
    """
    merged = dict(properties)
    warnings: dict[TagWarning, None] = {}
    for sent_name, sent_value in metadata:
        name = _clean_name(sent_name)
        if name.text in properties:
            continue
        value = _clean_text(sent_value)
        shown = f"metadata {name.text[:_MAX_SHOWN]!r}"
        if not name.text:
            warnings[TagWarning("empty_property_name", "A name in metadata is empty. Its value was dropped.")] = None
        elif name.text in merged:
            if value.text != merged[name.text]:
                message = f"{shown} was sent more than once. The first value is used."
                warnings[TagWarning("duplicate_tag", message)] = None
        elif len(merged) >= MAX_PROPERTIES:
            warnings[TagWarning("too_many_properties", f"{_TOO_MANY} Properties in metadata come last.")] = None
            break
        else:
            merged[name.text] = value.text
            for change in name.changes:
                warnings[TagWarning(change, _CHANGES[change].format(name=f"The name of {shown}"))] = None
            for change in value.changes:
                warnings[TagWarning(change, _CHANGES[change].format(name=f"The value of {shown}"))] = None
    return merged, list(warnings)


def _quoted(text: str) -> str:
    """Return the beginning of a text in quotes, for a message. Messages must stay short, because they are journaled."""
    return repr(text[:_MAX_SHOWN])


def shortened(text: str) -> str:
    """Return a text of at most ``MAX_CHARACTERS`` characters. The end of a longer text is replaced by a hash."""
    if len(text) <= MAX_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
    return f"{text[:_TRUNCATED_CHARACTERS]}~{digest}"


_cached = lru_cache(4096)(_clean)


def _decode(raw: bytes) -> tuple[str, bool]:
    """Return the text of a tag's value, and whether the value is UTF-8."""
    if b"%" in raw and not _BROKEN_PERCENT.search(raw):
        try:
            return unquote_to_bytes(raw).decode(), True
        except UnicodeDecodeError:
            pass
    return header_text(raw)


def header_text(value: bytes) -> tuple[str, bool]:
    """Return the text of a header, and whether the header is UTF-8. Otherwise it is read as Latin-1."""
    try:
        return value.decode(), True
    except UnicodeDecodeError:
        return value.decode("latin-1"), False


@lru_cache(4096)
def echo(namespace: str) -> bytes:
    """Return a namespace as a header value, which is percent-encoded if necessary."""
    safe = namespace.isascii() and namespace.isprintable() and "%" not in namespace
    return (namespace if safe else quote(namespace, safe="!#$&'()*+,/:;=?@[]~ ")).encode()


def by_precedence(patterns: Iterable[str]) -> list[str]:
    """Return patterns of namespaces such that the first pattern that matches a namespace is the one that applies.

    These are first the names of namespaces, then prefixes with ``*``, longest first.
    """
    return sorted(patterns, key=lambda pattern: (pattern.endswith("*"), -len(pattern), pattern))


class NamePatterns(Generic[T]):
    """Maps patterns of names to values. A pattern is a name, or a prefix with ``*``, such as ``team-*``."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._by_name = {pattern: value for pattern, value in values.items() if not pattern.endswith("*")}
        beginnings = [(pattern[:-1], value) for pattern, value in values.items() if pattern.endswith("*")]
        self._by_beginning = sorted(beginnings, key=lambda pair: len(pair[0]), reverse=True)

    def find(self, name: str, default: T) -> T:
        """Return the value for the name itself, or else for the longest matching pattern, or else the default."""
        if name in self._by_name:
            return self._by_name[name]
        return next((value for beginning, value in self._by_beginning if name.startswith(beginning)), default)


class TagReader:
    """Parses tags with the header prefixes, the default namespace and the log mode from the settings.

    ``log_by_pattern`` maps patterns of namespaces to log modes. ``properties`` are those that a request has if it sends
    no other value.
    """

    def __init__(
        self,
        prefixes: Sequence[str],
        namespace: str,
        log: LogMode,
        log_by_pattern: Mapping[str, LogMode] | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._prefixes = {prefix.lower(): prefix for prefix in prefixes}
        self._first_prefix = prefixes[0]
        self._namespace = _clean_text(namespace).text or "default"
        self._log: LogMode = log
        self._log_by_pattern = NamePatterns(log_by_pattern or {})
        self._properties = {
            key: _clean_text(value).text for name, value in (properties or {}).items() if (key := property_name(name))
        }
        self._cached = lru_cache(4096)(self._read)
        self._plain = self._read((), b"")

    def is_tag(self, lower_name: bytes) -> bool:
        """Return whether a header name (in lower case) has a tag prefix. Tag headers are not sent upstream.

        A browser's ``Service-Worker`` header is not a tag.
        """
        prefix, dash, rest = lower_name.decode("latin-1").partition("-")
        return bool(dash) and prefix in self._prefixes and not rest.startswith("worker")

    def read(self, lines: Iterable[tuple[bytes, bytes]], in_path: bytes = b"") -> Tags:
        """Return the tags of a request. ``lines`` has the name and value of each tag header, in the order sent.

        ``in_path`` is the namespace in the path, which applies if no header has one. Without tags, return the defaults.
        """
        sent = tuple(lines)
        if not (sent or in_path):
            return self._plain
        size = len(in_path) + sum(len(name) + len(value) for name, value in sent)
        is_short = size <= _MAX_CACHED_TAGS_BYTES
        return self._cached(sent, in_path) if is_short else self._read(sent, in_path)

    def _read(self, lines: tuple[tuple[bytes, bytes], ...], in_path: bytes) -> Tags:
        reading = _Reading(self._prefixes)
        for name, value in lines:
            reading.take(name.decode("latin-1"), value)
        if in_path:
            reading.take_path(in_path)
        for key, text in self._properties.items():
            if len(reading.properties) < MAX_PROPERTIES:
                reading.properties.setdefault(key, text)
        namespace = reading.namespace or self._namespace
        log = self._log_by_pattern.find(namespace, self._log) if reading.log == "full" else reading.log
        prefix = reading.prefix or self._first_prefix
        return Tags(namespace, reading.properties, log, tuple(reading.warnings), prefix, echo(namespace))


class _Reading:
    """Collects the tags of one request, header by header."""

    def __init__(self, prefixes: dict[str, str]) -> None:
        self._prefixes = prefixes
        self._sent_log: str | None = None
        #: The prefix of the first tag. `None` if the request has no tags.
        self.prefix: str | None = None
        #: `None` if the request sets no namespace.
        self.namespace: str | None = None
        self.log: LogMode = "full"
        self.properties: dict[str, str] = {}
        self.warnings: list[TagWarning] = []

    def take(self, name: str, raw: bytes) -> None:
        prefix, _, rest = name.partition("-")
        self.prefix = self.prefix or self._prefixes[prefix.lower()]
        rest = rest.lower()
        name = name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}..."
        if rest == "namespace":
            self._take_namespace(name, raw)
        elif rest == "log":
            self._take_log(name, raw)
        elif rest.startswith("property-") and len(rest) > len("property-"):
            self._take_property(name, _clean_name(rest.removeprefix("property-")), raw)
        else:
            self._warn("unknown_header", f"{name} is not a known tag and was not sent upstream{self._suggest(name)}")

    def take_path(self, raw: bytes) -> None:
        """Take the namespace that stands before the mount in the request's path. A header wins."""
        header = self.namespace
        if header is None:
            self._take_namespace("The namespace in the path", raw)
        elif clean(raw).text not in ("", header):
            self._warn(
                "duplicate_tag",
                f"The path has another namespace than the header. The header's, {_quoted(header)}, is used.",
            )

    def _warn(self, code: WarningCode, message: str) -> None:
        warning = TagWarning(code, message)
        if warning not in self.warnings:
            self.warnings.append(warning)

    def _suggest(self, name: str) -> str:
        prefix, _, rest = name.partition("-")
        close = get_close_matches(rest.lower(), _KNOWN_TAGS, 1, 0.6)
        if not close:
            return "."
        known = "Property-<Name>" if close[0] == "property-" else close[0].title()
        return f". Did you mean {self._prefixes[prefix.lower()]}-{known}?"

    def _take_namespace(self, name: str, raw: bytes) -> None:
        text = self._noted(name, clean(raw), "namespace_cut")
        if not text:
            return
        if self.namespace is None:
            self.namespace = text
        elif text != self.namespace:
            self._warn(
                "duplicate_tag",
                f"{name} was sent more than once. The first value, {_quoted(self.namespace)}, is used.",
            )

    def _take_log(self, name: str, raw: bytes) -> None:
        value = raw.strip().decode("latin-1").lower()
        if self._sent_log is not None and value != self._sent_log:
            self._warn(
                "duplicate_tag", f"{name} was sent more than once. If one value is no-bodies, no-bodies is used."
            )
        self._sent_log = value
        if value not in ("full", "no-bodies"):
            shown = value[:40].encode("ascii", "replace").decode()
            self._warn(
                "unknown_log_value",
                f"{name} is {shown!r}, but must be full or no-bodies. The value is treated as no-bodies.",
            )
        if value != "full":
            self.log = "no-bodies"

    def _take_property(self, name: str, cleaned: Cleaned, raw: bytes) -> None:
        key = self._noted(name, cleaned)
        text = self._noted(name, clean(raw))
        if key in self.properties:
            if self.properties[key] != text:
                first = self.properties[key]
                self._warn(
                    "duplicate_tag",
                    f"{name} was sent more than once. The first value, {_quoted(first)}, is used.",
                )
        elif len(self.properties) >= MAX_PROPERTIES:
            self._warn("too_many_properties", _TOO_MANY)
        else:
            self.properties[key] = text

    def _noted(self, name: str, cleaned: Cleaned, cut_code: WarningCode = "value_cut") -> str:
        """Return the text, and add the warnings about its adjustments. ``name`` is the name of the header."""
        for change in cleaned.changes:
            code = cut_code if change == "value_cut" else change
            self._warn(code, _CHANGES[change].format(name=name))
        return cleaned.text


_TOO_MANY: Final = (
    f"More than {MAX_PROPERTIES} properties were sent. All properties after the first {MAX_PROPERTIES} are dropped."
)
_CHANGES: Final[dict[WarningCode, str]] = {
    "value_cut": f"{{name}} is longer than {MAX_CHARACTERS} characters. The text was truncated, and a hash was "
    "appended.",
    "control_characters_replaced": "{name} contains control characters. Each control character was replaced by U+FFFD.",
    "not_utf8": "{name} is not UTF-8 and was read as Latin-1. Percent-encode non-ASCII characters.",
}
