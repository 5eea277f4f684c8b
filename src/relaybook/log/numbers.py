"""Define the numbers of a request, by which the log can be sorted and filtered.

Most numbers are fields of ``Record``. The others are derived from fields: they are not stored, because a division costs
nothing when a record is read. ``store/number_sql.py`` has the same derivations in SQL.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from relaybook.log.record import Record

#: What a number counts. ``share`` is a fraction from 0 to 1, and ``rate`` is a number per second.
Unit = Literal["milliseconds", "tokens", "bytes", "usd", "share", "rate", "count", "time"]
#: A response that took less than this many milliseconds after its first token has no speed, because all of its tokens
#: arrived at once. An upstream or a proxy had buffered them.
MIN_STREAMING_MS: Final = 10.0
#: A value of number terms, which selects the requests without the number: ``cost:unknown``.
UNKNOWN: Final = "unknown"


class Number(NamedTuple):
    """A number of a request.

    ``field`` is its name in rows. ``term`` is the name of its filter, or `None` if it has no filter of its own. The
    other fields are texts: ``label`` names the number, and ``highest`` and ``lowest`` describe the orders.
    """

    field: str
    term: str | None
    unit: Unit
    label: str
    highest: str = ""
    lowest: str = ""


#: The numbers by which the log can be sorted, in the order in which they are offered.
SORTED_NUMBERS: Final = (
    Number("cost_usd", "cost", "usd", "cost", "Most expensive first", "Cheapest first"),
    Number("duration_ms", "duration", "milliseconds", "duration", "Slowest first", "Fastest first"),
    Number(
        "first_token_ms",
        "first_token",
        "milliseconds",
        "time to first token",
        "Longest time to first token first",
        "Fastest first token first",
    ),
    Number(
        "tokens_per_second",
        "tokens_per_second",
        "rate",
        "tokens/s",
        "Most tokens/s first",
        "Fewest tokens/s first",
    ),
    Number(
        "input_tokens",
        "input_tokens",
        "tokens",
        "input tokens",
        "Most input tokens first",
        "Fewest input tokens first",
    ),
    Number(
        "output_tokens",
        "output_tokens",
        "tokens",
        "output tokens",
        "Most output tokens first",
        "Fewest output tokens first",
    ),
    Number(
        "cached_tokens",
        "cached_tokens",
        "tokens",
        "cached tokens",
        "Most cached tokens first",
        "Fewest cached tokens first",
    ),
    Number(
        "cached_share",
        "cached_share",
        "share",
        "cached input share",
        "Highest cached input share first",
        "Lowest cached input share first",
    ),
    Number(
        "reasoning_tokens",
        "reasoning_tokens",
        "tokens",
        "reasoning tokens",
        "Most reasoning tokens first",
        "Fewest reasoning tokens first",
    ),
    Number(
        "request_bytes",
        "request_bytes",
        "bytes",
        "request size",
        "Largest request first",
        "Smallest request first",
    ),
    Number(
        "response_bytes",
        "response_bytes",
        "bytes",
        "response size",
        "Largest response first",
        "Smallest response first",
    ),
    Number(
        "relay_ms",
        "relay",
        "milliseconds",
        "time in the relay",
        "Longest in the relay first",
        "Shortest in the relay first",
    ),
    Number("chunks", "chunks", "count", "chunks", "Most chunks first", "Fewest chunks first"),
    Number("started_at", None, "time", "time started", "Latest start first", "Earliest start first"),
)
RETRIES: Final = Number("retry_count", "retry_count", "count", "retry count")


def cached_share_of(record: Record) -> float | None:
    """Return the share of the input tokens that were read from the provider's cache, from 0 to 1.

    `None` if either number is unknown, or if the two contradict each other.
    """
    cached, total = record.cached_tokens, record.input_tokens
    return None if cached is None or not total or not 0 <= cached <= total else cached / total


def tokens_per_second_of(record: Record) -> float | None:
    """Return the output tokens per second between the first token and the end of the exchange.

    `None` if the response was not a stream, if the number of tokens is unknown or 0, or if the response took less than
    MIN_STREAMING_MS after its first token.
    """
    if not record.output_tokens or record.first_token_ms is None or record.duration_ms is None:
        return None
    streaming_ms = record.duration_ms - record.first_token_ms
    return None if streaming_ms < MIN_STREAMING_MS else record.output_tokens * 1000.0 / streaming_ms


#: The functions that derive numbers from fields of the record. All other numbers are fields.
DERIVED: Final[dict[str, Callable[[Record], float | None]]] = {
    "cached_share": cached_share_of,
    "tokens_per_second": tokens_per_second_of,
}


def number_of(field: str) -> Callable[[Record], float | None]:
    """Return the function that returns the number ``field`` of a record. The result is `None` if it is unknown."""
    return DERIVED.get(field) or attrgetter(field)
