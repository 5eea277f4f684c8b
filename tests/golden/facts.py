"""The facts of an exchange that the golden file holds.

``messages_of`` and ``response_of`` convert what the log shows to a form that does not depend on the API, nor on the
structs that the log uses.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from tests.golden.exchange import GoldenExchange

from relaybook.log.conversations import positions_of
from relaybook.log.formats.conversation import Part
from relaybook.log.formats.media import describe_media
from relaybook.log.prices import Prices
from relaybook.log.query.words import SEPARATOR
from relaybook.log.record import Record, decode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.search_text import text_of
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Link
from relaybook.recorder.entry_builder import EntryBuilder

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
        entry = entry_of(exchange)
        found.append({"name": exchange.name} | _facts(entry))
        link = Link(
            seq=number,
            id=exchange.name,
            started_at=number,
            failed=entry.record.failed,
            completion_id=entry.record.completion_id,
            session=entry.record.session,
            chain=entry.chain,
            model=entry.record.model,
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


def entry_of(exchange: GoldenExchange) -> Entry:
    """Return the entry that the recorder builds of an exchange."""
    recorded = exchange.recorded()
    return _BUILDER.entry(recorded, _BUILDER.bodies(recorded))


def _facts(entry: Entry) -> dict[str, Any]:
    facts = {
        "record": record_facts(entry.record),
        "chain": None if entry.chain is None else _chain(entry.chain),
        "text": text_of(entry).whole.replace(SEPARATOR, "\n"),
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
    request = RequestView.of_entry(entry).request()
    return [[message.role, *_parts(message.parts)] for message in (request.messages if request is not None else ())]


def response_of(entry: Entry) -> list[list[Any]]:
    """Return the outputs of the response: as messages, with the finish reason at the end."""
    response = RequestView.of_entry(entry).response()
    return [
        ["assistant", *_parts(output.parts, ""), output.finish_reason]
        for output in (response.outputs if response is not None else ())
    ]


def _parts(parts: list[Part], between: str = "\n") -> list[Any]:
    texts = [part.text for part in parts if part.kind in ("text", "tool_result", "audio") and part.text]
    refusals = [part.text for part in parts if part.kind == "refusal" and part.text]
    reasoning = [part.text for part in parts if part.kind == "reasoning" and part.text]
    shown = [describe_media(part.kind, part.media) for part in parts if part.media is not None]
    shown += [part.text or f"[{part.type}]" for part in parts if part.kind == "other"]
    return [
        "\n".join(filter(None, (between.join(texts), *refusals))) or None,
        [[part.id, part.name, part.arguments] for part in parts if part.kind == "tool_call"],
        next((part.id for part in parts if part.kind == "tool_result"), None),
        "\n".join(reasoning) or None,
        shown,
    ]
