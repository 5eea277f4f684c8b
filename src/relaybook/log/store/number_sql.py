"""Define SQL expressions on ``requests AS r`` for the numbers of a request, for stores in SQL databases.

The expressions return the same values as ``numbers.number_of``. SQLite and ClickHouse both have ``CASE``, and both
divide floating-point numbers as Python does.
"""

from typing import Final

from relaybook.log.numbers import MIN_STREAMING_MS, RETRIES, SORTED_NUMBERS

_STREAMING_MS: Final = "(r.duration_ms - r.first_token_ms)"
_DERIVED: Final = {
    "cached_share": "CASE WHEN r.input_tokens > 0 AND r.cached_tokens BETWEEN 0 AND r.input_tokens "
    "THEN r.cached_tokens * 1.0 / r.input_tokens END",
    "tokens_per_second": f"CASE WHEN r.output_tokens <> 0 AND {_STREAMING_MS} >= {MIN_STREAMING_MS} "
    f"THEN r.output_tokens * 1000.0 / {_STREAMING_MS} END",
}
#: The expression for each number, by the name of its field. The value is NULL if the number is unknown.
NUMBER_SQL: Final = {
    number.field: _DERIVED.get(number.field, f"r.{number.field}") for number in (*SORTED_NUMBERS, RETRIES)
}
