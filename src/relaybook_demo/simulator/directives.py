"""Declare and parse a request's directives, which tell the simulated upstream what to send.

For example, the field ``first_token_ms`` is set by the header ``Sim-First-Token-Ms``, the query parameter
``sim_first_token_ms`` or the metadata key ``sim_first_token_ms``. The header has the highest precedence, followed by
the query. Unknown names that start with ``sim`` are rejected, so that a test with a typo cannot pass by accident. See
docs/reference/simulator.md.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import NoneType
from typing import Any, Final, Literal, get_args
from urllib.parse import parse_qsl

from relaybook_demo.simulator import directive_values as read
from relaybook_demo.simulator.directive_values import After, BadDirective, BodyDirectives, Break, PacedWrites

_REPEATED: Final = ("header", "trailer")
_PREFIX: Final = b"sim-"


def _directive(reader: Callable[[str], Any], default: Any = None) -> Any:
    return field(default=default, metadata={"read": reader})


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """The directives of one request. A field with its default value has no effect.

    A field that is declared without a parser is a scalar, and is parsed according to its type.
    """

    # Content
    status: int | None = None
    text: str | None = _directive(read.percent_text)
    answer_tokens: int | None = None
    event_bytes: int | None = None
    stream: bool | None = None
    body: BodyDirectives | None = _directive(read.body)
    usage: Literal["null", "missing"] | None = None
    choices: Literal["empty", "null", "missing"] | None = None
    done: bool = True
    error_event: tuple[int, bool] | None = _directive(lambda text: _error_event(text))
    script: str | None = None
    raw: bytes | None = None
    tag: str = ""

    # Encoding
    sse: frozenset[str] = _directive(
        read.any_of("crlf", "cr", "comments", "lines", "named", "ids", "nospace", "bom"), default=frozenset()
    )
    timestamps: bool = False
    encoding: Literal["gzip", "deflate", "br", "zstd"] | None = None
    framing: Literal["length", "chunked", "close"] | None = None
    length: tuple[str, int] | None = _directive(read.declared_length)
    http: Literal["1.0", "1.1"] = "1.1"
    status_line: bytes | None = _directive(read.percent_bytes)
    content_type: bytes | None = _directive(read.percent_bytes)
    headers: Literal["few", "openai"] | None = None
    header: tuple[tuple[bytes, bytes], ...] = _directive(read.header_lines, default=())
    header_fill: tuple[int, int] | None = _directive(read.size_and_count)
    trailer: tuple[tuple[bytes, bytes], ...] = _directive(read.header_lines, default=())
    connection: Literal["close"] | None = None
    interim: tuple[int, ...] = _directive(read.interim_statuses, default=())
    surplus: int = 0

    # Timing
    when: Literal["head", "body"] = "body"
    read_delay_ms: float = 0.0
    delay_ms: float = 0.0
    first_token_ms: float | None = None
    tokens_per_second: float | None = None
    event_interval_ms: float | None = None
    head_piece: PacedWrites | None = _directive(read.paced_writes)
    piece: PacedWrites | None = _directive(read.paced_writes)

    # End
    break_: Break | None = _directive(read.break_point)
    after: After | None = _directive(read.after)


def _scalar_reader(type_: Any) -> Callable[[str], Any]:
    parts = get_args(type_)
    return partial(read.scalar, type_=parts[0] if NoneType in parts else type_)


#: The directives of a request that sets no directives. Most requests set none.
NO_DIRECTIVES: Final = Directives()

_FIELDS: Final = {item.name.rstrip("_"): item for item in fields(Directives)}
_READERS: Final = {item.name: item.metadata.get("read") or _scalar_reader(item.type) for item in fields(Directives)}

#: The names of all directives, such as ``first_token_ms``. In the query and in metadata, they start with ``sim_``.
NAMES: Final = tuple(_FIELDS)


def read_directives(
    headers: Iterable[tuple[bytes, bytes]], query: str, metadata: Mapping[str, Any] | None
) -> Directives:
    """Parse the directives of a request. ``metadata`` is the body's metadata, if it is known. Raises BadDirective."""
    texts: dict[str, str] = {}
    for key, value in (metadata or {}).items():
        if key.startswith("sim_"):
            texts[key[4:]] = str(value)
    if "sim_" in query:
        for key, value in parse_qsl(query, keep_blank_values=True):
            if key.startswith("sim_"):
                _add(texts, key[4:], value)
    for name, raw_value in headers:
        if name[:4].lower() == _PREFIX:
            _add(texts, name[4:].decode("latin-1").lower().replace("-", "_"), raw_value.decode("latin-1"))
    return _from_texts(texts) if texts else NO_DIRECTIVES


def header_name(name: str) -> str:
    """Return the header of a directive, such as ``Sim-First-Token-Ms`` for ``first_token_ms``."""
    return "Sim-" + "-".join(word.capitalize() for word in name.split("_"))


def _add(texts: dict[str, str], name: str, value: str) -> None:
    is_repeated = name in _REPEATED and name in texts
    texts[name] = f"{texts[name]} | {value}" if is_repeated else value


def _from_texts(texts: dict[str, str]) -> Directives:
    values = {}
    for name, text in texts.items():
        item = _FIELDS.get(name)
        if item is None:
            raise BadDirective(f"{header_name(name)} is not a directive. See docs/reference/simulator.md.")
        try:
            values[item.name] = _READERS[item.name](text.strip())
        except BadDirective as error:
            raise BadDirective(f"{header_name(name)}: {text!r} is invalid. Expected {error}.") from None
    return Directives(**values)


def _error_event(text: str) -> tuple[int, bool]:
    count, _, form = text.partition(" ")
    return read.scalar(count, int), read.scalar(form or "data", Literal["data", "event"]) == "event"
