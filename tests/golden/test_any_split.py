"""The facts of a stream do not depend on how its bytes were split into chunks."""

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.exchange import GoldenExchange, in_chunks, joined
from tests.golden.exchanges import exchanges
from tests.golden.facts import all_facts
from tests.support.each import check_each

STREAMS = {exchange.name: exchange for exchange in exchanges() if "/stream/" in exchange.name and exchange.response}
#: The facts that tell about chunks.
TIMED = ("chunks", "first_token_ms")


def facts(exchange: GoldenExchange, chunks: tuple[bytes, ...]) -> tuple[dict[str, Any], float | None]:
    """Return the facts of an exchange whose response arrives in chunks, and the time of its first token."""
    (found,) = all_facts([exchange._replace(response=chunks)])
    record = {name: value for name, value in found["record"].items() if name not in TIMED}
    return found | {"record": record}, found["record"].get("first_token_ms")


def split(random: Random, data: bytes) -> tuple[bytes, ...]:
    """Return bytes in chunks of random sizes."""
    chunks = []
    while data:
        size = random.choice((1, 2, 5, 60, 700, len(data)))
        chunks.append(data[:size])
        data = data[size:]
    return tuple(chunks)


@settings(deadline=None)
@given(st.sampled_from(list(STREAMS)), st.integers(0, 2**32 - 1).map(Random))
def test_no_split_changes_the_facts_of_a_stream(name: str, random: Random) -> None:
    exchange = STREAMS[name]
    chunks = split(random, joined(exchange.response))
    found, first_token_ms = facts(exchange, chunks)
    expected, _ = facts(exchange, exchange.response)
    assert found == expected
    if "encoding" in exchange.response_head:
        return
    # Byte by byte, the time tells at which byte the first token is complete. A split has it in the chunk of this byte.
    _, at_byte = facts(exchange, in_chunks(joined(exchange.response), 1))
    if at_byte is None:
        assert first_token_ms is None
        return
    assert first_token_ms is not None
    before_first = 3  # milliseconds until the head of the response
    first_token_end = int(at_byte) - before_first
    arrived = len(joined(chunks[: int(first_token_ms) - before_first]))
    assert arrived - len(chunks[int(first_token_ms) - before_first - 1]) < first_token_end <= arrived


def test_single_bytes_give_the_facts_of_the_whole_stream() -> None:
    def check(name: str) -> None:
        exchange = STREAMS[name]
        data = joined(exchange.response)
        assert facts(exchange, in_chunks(data, 1))[0] == facts(exchange, (data,))[0]

    check_each(STREAMS, check)
