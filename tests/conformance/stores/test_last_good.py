"""Test that each store finds the last successful request with the same prompt among many other requests."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.api_log import entry_of, record_of

from relaybook import clock
from relaybook.apis import match
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.last_good import LastGood
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.reading import read_request, read_response
from relaybook.log.record import Feedback, encode_chain
from relaybook.log.search_text import text_of
from relaybook.log.store.entry import Entry

PATH = "/v1/chat/completions"
AGENT = "You are an agent that classifies invoices of 2026. Answer with one word."


def entry(number: int, *texts: str, system: str = AGENT, answer: str = "Paid.", **fields: Any) -> Entry:
    """Return a request. Every second text is from the assistant."""
    messages = [{"role": "system", "content": system}] if system else []
    messages += [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    response = json.dumps({"choices": [{"message": {"role": "assistant", "content": answer}}]}).encode()
    record = record_of(
        number,
        **({"method": "POST", "path": PATH, "request_bytes": len(body), "response_bytes": len(response)} | fields),
    )
    made = entry_of(record, body, response)
    request = read_request(body, match("POST", PATH))
    chain = build_chain(request, read_response(response, "chat", is_event_stream=False, complete=True).response)
    made.chain = None if chain is None else encode_chain(chain)
    made.text = text_of(made)
    return made


def others(first: int, count: int, **fields: Any) -> list[Entry]:
    """Return requests with other prompts."""
    system = "You are a friendly guide who answers questions about tea."
    return [entry(first + at, f"Which tea is number {at}?", system=system, **fields) for at in range(count)]


def found(store: Store, entries: Sequence[Entry], number: int) -> tuple[int | None, str | None, bool]:
    """Return the number of the last successful request for a request, its relation, and whether it is later."""
    store.commit(*entries)
    store.index(*entries)
    answer = ask(store, number)
    return (
        None if answer.request is None else int(answer.request["id"][-12:], 16),
        answer.relation,
        answer.is_later,
    )


def ask(store: Store, number: int) -> LastGood:
    return Asker(store.reader, clock.monotonic_ns() + 60 * clock.NANOSECONDS).last_good(record_of(number).id)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        # the same messages, although a request with the same prompt is newer
        ([entry(1, "Invoice 7"), entry(2, "Invoice 8"), *others(3, 250)], (1, "same_messages", False)),
        # the newest request with the same prompt
        ([entry(1, "Invoice 5"), entry(2, "Invoice 8"), *others(3, 250)], (2, "same_prompt", False)),
        # not a failed, broken or badly rated one, and not one of another namespace or path
        (
            [
                entry(1, "Invoice 8"),
                entry(2, "Invoice 7", failed=True, status=500),
                entry(3, "Invoice 7", outcome="client_closed"),
                entry(4, "Invoice 7", feedback=[Feedback(source="ann", score=-1.0, at=1)]),
                entry(5, "Invoice 7", namespace="ios"),
                entry(6, "Invoice 7", path="/v2/chat/completions"),
            ],
            (1, "same_prompt", False),
        ),
        # not one that was cut off
        ([entry(1, "Invoice 7"), entry(2, "Invoice 7", finish_reason="length")], (1, "same_messages", False)),
        # a later one with the same messages, although an earlier one has the same prompt
        (
            [entry(1, "Invoice 8"), entry(301, "Invoice 9"), entry(302, "Invoice 7"), entry(303, "Invoice 7")],
            (302, "same_messages", True),
        ),
        # a later one, if there is none before
        ([*others(1, 3), entry(301, "Invoice 8"), entry(302, "Invoice 9")], (301, "same_prompt", True)),
        # the nearest, if no prompt is the same
        ([*others(1, 3)], (3, "same_model", False)),
        ([*others(1, 2), *others(3, 1, model="other")], (2, "same_model", False)),
        ([*others(1, 3, model="other")], (3, "same_namespace", False)),
        ([*others(1, 3, namespace="ios")], (None, None, False)),
        # a prompt without its system prompt, or with another date in it
        ([entry(1, "Invoice 8", system=AGENT.replace("2026", "2025"))], (1, "same_prompt", False)),
        ([entry(1, "Invoice 8", system="")], (1, "same_model", False)),
    ],
)
def test_the_last_good_request_is_found(
    store: Store, entries: list[Entry], expected: tuple[int | None, str | None, bool]
) -> None:
    entries = sorted([*entries, entry(300, "Invoice 7", failed=True, status=500)], key=lambda each: each.record.id)
    assert found(store, entries, 300) == expected


def test_an_earlier_turn_is_preferred_to_another_conversation(store: Store) -> None:
    entries = [
        entry(1, "Invoice 7"),
        entry(2, "Invoice 8"),
        entry(3, "Invoice 7", "Paid.", "Sure?", failed=True, status=500),
    ]
    assert found(store, entries, 3) == (1, "same_conversation", False)
    assert ask(store, 3).message == "A is the last successful request before B, in the same conversation."


@pytest.mark.parametrize(("system", "start"), [(AGENT, "system prompt"), ("", "first message")])
def test_the_message_says_what_starts_the_same(store: Store, system: str, start: str) -> None:
    text = "Classify this invoice with one word. It is invoice"
    entries = [
        entry(1, f"{text} 8", "Paid.", "Sure?", system=system),
        entry(2, f"{text} 7" if not system else "Invoice 7", system=system, failed=True, status=500),
    ]
    assert found(store, entries, 2) == (1, "same_prompt", False)
    assert ask(store, 2).message == f"A is the last successful request before B, and its {start} starts the same."


@pytest.mark.parametrize(("text", "what"), [("Invoice 7", "these messages"), ("Invoice 8", "this prompt")])
def test_the_message_says_that_only_a_later_request_was_successful(store: Store, text: str, what: str) -> None:
    assert found(store, [entry(1, "Invoice 7", failed=True, status=500), entry(2, text)], 1)[2]
    expected = f"No earlier request with {what} was successful. A is a later request that was successful."
    assert ask(store, 1).message == expected


def test_a_request_without_bodies_has_only_a_nearest_request(store: Store) -> None:
    bare = entry_of(record_of(2, body_state="no_bodies", method="POST", path=PATH, failed=True), None, None)
    assert found(store, [entry(1, "Invoice 7"), bare], 2) == (1, "same_model", False)
    assert ask(store, 2).message.startswith("The prompt of this request cannot be read. The nearest is")
