"""What one request asks the simulated provider to do: every wish is declared here once.

A field ``first_token_ms`` is the header ``Sim-First-Token-Ms``, the query parameter ``sim_first_token_ms`` and the
metadata key ``sim_first_token_ms``; where they differ the header wins, then the query. An unknown name that begins
with ``sim`` is refused, so that a misspelt test cannot pass by accident. See docs/reference/simulator.md.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal
from urllib.parse import parse_qsl

from relaybook_demo.simulator import directive_values as read
from relaybook_demo.simulator.directive_values import After, BadDirective, BodyDirectives, Break, Pieces

_REPEATED: Final = ("header", "trailer")
_PREFIX: Final = b"sim-"


def _directives(reader: Callable[[str], Any], default: Any = None) -> Any:
    return field(default=default, metadata={"read": reader})


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """None, an empty tuple or False: as an ordinary provider does it."""

    # What is said.
    status: int | None = _directives(read.number)
    text: str | None = _directives(read.plain)
    answer_tokens: int | None = _directives(read.number)
    event_bytes: int | None = _directives(read.number)
    stream: bool | None = _directives(read.switch)
    body: BodyDirectives | None = _directives(read.body)
    usage: Literal["null", "missing"] | None = _directives(read.one_of("null", "missing"))
    choices: Literal["empty", "null", "missing"] | None = _directives(read.one_of("empty", "null", "missing"))
    done: bool = _directives(read.switch, default=True)
    error_event: tuple[int, bool] | None = _directives(lambda text: _error_event(text))
    script: str | None = _directives(str)
    raw: bytes | None = _directives(read.raw)
    tag: str = _directives(str, default="")

    # How it is written down.
    sse: frozenset[str] = _directives(
        read.words("crlf", "cr", "comments", "lines", "named", "ids", "nospace", "bom"), default=frozenset()
    )
    timestamps: bool = _directives(read.switch, default=False)
    encoding: Literal["gzip", "deflate", "br", "zstd"] | None = _directives(
        read.one_of("gzip", "deflate", "br", "zstd")
    )
    framing: Literal["length", "chunked", "close"] | None = _directives(read.one_of("length", "chunked", "close"))
    length: tuple[str, int] | None = _directives(read.declared_length)
    http: Literal["1.0", "1.1"] = _directives(read.one_of("1.0", "1.1"), default="1.1")
    status_line: bytes | None = _directives(read.percent_bytes)
    content_type: bytes | None = _directives(read.percent_bytes)
    headers: Literal["few", "openai"] | None = _directives(read.one_of("few", "openai"))
    header: tuple[tuple[bytes, bytes], ...] = _directives(read.header_lines, default=())
    header_fill: tuple[int, int] | None = _directives(read.size_and_count)
    trailer: tuple[tuple[bytes, bytes], ...] = _directives(read.header_lines, default=())
    connection: Literal["close"] | None = _directives(read.one_of("close"))
    interim: tuple[int, ...] = _directives(read.statuses, default=())
    surplus: int = _directives(read.number, default=0)

    # When.
    when: Literal["head", "body"] = _directives(read.one_of("head", "body"), default="body")
    read_delay_ms: float = _directives(read.amount, default=0.0)
    delay_ms: float = _directives(read.amount, default=0.0)
    first_token_ms: float | None = _directives(read.amount)
    tokens_per_second: float | None = _directives(read.amount)
    event_interval_ms: float | None = _directives(read.amount)
    head_piece: Pieces | None = _directives(read.pieces)
    piece: Pieces | None = _directives(read.pieces)

    # How it ends.
    break_: Break | None = _directives(read.breaking)
    after: After | None = _directives(read.after)


#: Nothing asked for: most requests.
NO_DIRECTIVES: Final = Directives()

_FIELDS: Final = {item.name.rstrip("_"): item for item in fields(Directives)}

#: The names in query and metadata without their ``sim_``: ``first_token_ms``.
NAMES: Final = tuple(_FIELDS)


def read_directives(
    headers: Iterable[tuple[bytes, bytes]], query: str, metadata: Mapping[str, Any] | None
) -> Directives:
    """The wish of one request. ``metadata`` is the body's, where it is known. Raises BadWish."""
    asked: dict[str, str] = {}
    for key, value in (metadata or {}).items():
        if key.startswith("sim_"):
            asked[key[4:]] = str(value)
    if "sim_" in query:
        for key, value in parse_qsl(query, keep_blank_values=True):
            if key.startswith("sim_"):
                _add(asked, key[4:], value)
    for name, raw_value in headers:
        if name[:4].lower() == _PREFIX:
            _add(asked, name[4:].decode("latin-1").lower().replace("-", "_"), raw_value.decode("latin-1"))
    return _from_texts(asked) if asked else NO_DIRECTIVES


def header_name(name: str) -> str:
    """``first_token_ms`` → ``Sim-First-Token-Ms``."""
    return "Sim-" + "-".join(word.capitalize() for word in name.split("_"))


def _add(asked: dict[str, str], name: str, value: str) -> None:
    joined = name in _REPEATED and name in asked
    asked[name] = f"{asked[name]} | {value}" if joined else value


def _from_texts(asked: dict[str, str]) -> Directives:
    values = {}
    for name, text in asked.items():
        item = _FIELDS.get(name)
        if item is None:
            raise BadDirective(
                f"{header_name(name)} is no wish of the simulated provider. See docs/reference/simulator.md."
            )
        try:
            values[item.name] = item.metadata["read"](text.strip())
        except BadDirective as wrong:
            raise BadDirective(f"{header_name(name)}: {text!r} should be {wrong}.") from None
    return Directives(**values)


def _error_event(text: str) -> tuple[int, bool]:
    count, _, form = text.partition(" ")
    return read.number(count), read.one_of("data", "event")(form or "data") == "event"
