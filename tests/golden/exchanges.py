"""All exchanges of the golden file, in a fixed order."""

from collections.abc import Iterator

from tests.golden import (
    chat_messages,
    chat_requests,
    chat_streams,
    cohere_exchanges,
    conversation_exchanges,
    generate_exchanges,
    message_exchanges,
    ollama_exchanges,
    other_exchanges,
    response_exchanges,
)
from tests.golden.exchange import GoldenExchange

_SOURCES = (
    chat_messages,
    chat_streams,
    chat_requests,
    response_exchanges,
    message_exchanges,
    other_exchanges,
    conversation_exchanges,
    ollama_exchanges,
    cohere_exchanges,
    generate_exchanges,
)


def exchanges() -> Iterator[GoldenExchange]:
    for source in _SOURCES:
        yield from source.exchanges()
