"""The facts of an exchange that the golden file holds.

``messages_of`` and ``response_of`` convert what the log shows to a form that does not depend on the API, nor on the
structs that the log uses.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from tests.golden.exchange import GoldenExchange

from relaybook.log.conversations import positions_of
from relaybook.log.formats import decode_chain
from relaybook.log.record import Record
from relaybook.log.request_view import RequestView
from relaybook.log.search_text import text_of
from relaybook.log.store.port import Entry, Link
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.prices import Prices

#: Ids and times of the log, and what is the same in all exchanges.
_OMITTED = {
    *("id", "seq", "started_at", "ended_at", "duration_ms", "relay_ms", "namespace", "route", "upstream"),
    *("client_address", "key", "prices_version", "feedback"),
}
_EMPTY = Record(id="", started_at=0)
_BUILDER = EntryBuilder(Prices(), lambda ref: b"")


def all_facts(exchanges: Iterable[GoldenExchange]) -> Iterator[dict[str, Any]]:
    """Yield the facts of each exchange. Facts that are `None`, empty or 0 are omitted."""
    found: list[dict[str, Any]] = []
    links: dict[str, list[tuple[str, Link]]] = {}
    for number, exchange in enumerate(exchanges):
        entry = _BUILDER.entry(exchange.recorded())
        found.append({"name": exchange.name} | _facts(entry))
        link = Link(
            seq=number,
            id=exchange.name,
            started_at=number,
            failed=entry.record.failed,
            completion_id=entry.record.completion_id,
            chain=entry.chain,
        )
        links.setdefault(exchange.conversation or exchange.name, []).append((exchange.name, link))
    positions = {
        name: position
        for conversation in links.values()
        if len(conversation) > 1
        for name, position in positions_of(link for _, link in conversation).items()
    }
    for facts in found:
        position = positions.get(facts["name"])
        yield facts | ({} if position is None else {"position": position._asdict()})


def _facts(entry: Entry) -> dict[str, Any]:
    facts = {
        "record": record_facts(entry.record),
        "chain": None if entry.chain is None else _chain(entry.chain),
        "text": text_of(entry),
        "messages": messages_of(entry),
        "response": response_of(entry),
    }
    return {name: value for name, value in facts.items() if value}


def record_facts(record: Record) -> dict[str, Any]:
    """Return the fields of a record that differ from those of an empty record."""
    fields = {
        name: getattr(record, name)
        for name in Record.__struct_fields__
        if name not in _OMITTED and getattr(record, name) != getattr(_EMPTY, name)
    }
    if record.cost_usd is not None:
        fields["cost_usd"] = round(record.cost_usd, 9)
    return msgspec.to_builtins(fields)


def _chain(encoded: bytes) -> dict[str, Any]:
    chain = decode_chain(encoded)
    fields = {
        "messages": chain.messages,
        "key": chain.messages_key,
        "after": chain.after,
        "origins": chain.origins,
        "previous": chain.previous,
        "conversation": chain.conversation,
    }
    return msgspec.to_builtins({name: value for name, value in fields.items() if value})


def messages_of(entry: Entry) -> list[list[Any]]:
    """Return the messages of the request: role, text, calls, id of the call, reasoning, and descriptions of parts.

    A call is its id, its name and its arguments. Parts that are only text are not described.
    """
    _, messages = RequestView.of_entry(entry).parsed_request()
    return [_message(message) for message in messages or ()]


def _message(message: dict[str, Any]) -> list[Any]:
    calls = [_call(call) for call in message.get("tool_calls") or () if isinstance(call, dict)]
    if isinstance(message.get("function_call"), dict):
        calls.append(_call({"function": message["function_call"]}))
    texts = [text for text in (message["text"], message.get("refusal")) if isinstance(text, str)]
    other = message.get("other", {})
    if message["role"] is None and isinstance(other.get("type"), str):
        texts.append(f"[{other['type']}]")
    return [
        message["role"],
        "\n".join(texts) or None,
        calls,
        message.get("tool_call_id"),
        message.get("reasoning_content") or message.get("reasoning"),
        [part.get("shown") or f"[{part['type']}]" for part in message["parts"] if part["text"] is None],
    ]


def _call(call: dict[str, Any]) -> list[Any]:
    function = call.get("function") or call.get("custom") or call
    arguments = function.get("input") if function.get("arguments") is None else function["arguments"]
    return [call.get("id"), function.get("name"), arguments]


def response_of(entry: Entry) -> list[list[Any]]:
    """Return the outputs of the response: as messages, with the finish reason at the end."""
    response = RequestView.of_entry(entry).parsed_response() or {"choices": []}
    return [
        [
            "assistant",
            "\n".join(text for text in (choice["text"], choice["refusal"]) if text) or None,
            [[call["id"], call["name"], call["arguments"]] for call in choice["tool_calls"]],
            None,
            choice["reasoning"],
            [],
            choice["finish_reason"],
        ]
        for choice in response["choices"]
    ]
