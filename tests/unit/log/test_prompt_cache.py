"""Test that the place where a prompt changed, the tokens and the cost of the miss are those of a ledger."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from tests.support.api_log import START_US, entry_of, record_of
from tests.support.bodies import reading_of, request_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.apis import Kind
from relaybook.log.ask.asker import Asker
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import Prices
from relaybook.log.prompt_cache import CacheReport
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import encode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch
from relaybook.settings.definitions import PriceSettings

MODELS: dict[Kind, str] = {"chat": "gpt-4o-mini", "response": "gpt-4o-mini", "message": "claude-sonnet-4-5"}
KINDS = tuple(MODELS)
#: Dollars per million tokens. The model with this name has no price in any list.
OWN = {name: PriceSettings(input_mtok=2.0, output_mtok=8.0, cache_read_mtok=0.5) for name in MODELS.values()}
PATHS: dict[Kind, str] = {"chat": "/chat/completions", "response": "/responses", "message": "/messages"}
SYSTEM = "You are careful. " * 200 + "Today is 2026-11-28 and the day is long. " + "Answer in short sentences. " * 100
DATE_AT = SYSTEM.index("2026-11-28")
PIXEL = "data:image/png;base64,iVBORw0KGgo"


class Turn(NamedTuple):
    """One request of a ledger: what it sends, and what the provider counts."""

    tools: list[tuple[str, str]]
    system: str
    #: Texts of user and assistant in turns; a text that begins with ``data:`` is an image.
    texts: list[str]
    answer: str
    input_tokens: int
    cached: int | None
    after_s: float = 10.0

    @property
    def characters(self) -> int:
        """All characters that count for estimates; an image counts as 4,000."""
        return sum(map(weight, self.texts)) + len(self.system)


def weight(text: str) -> int:
    return 4000 if text.startswith("data:") else len(text)


def tool(kind: Kind, name: str, description: str) -> dict[str, Any]:
    if kind == "chat":
        return {"type": "function", "function": {"name": name, "description": description, "parameters": {}}}
    if kind == "response":
        return {"type": "function", "name": name, "description": description, "parameters": {}}
    return {"name": name, "description": description, "input_schema": {"type": "object"}}


def tool_length(kind: Kind, name: str, description: str) -> int:
    return len(json.dumps(tool(kind, name, description), separators=(",", ":")))


def image(kind: Kind, url: str) -> dict[str, Any]:
    if kind == "message":
        source = {"type": "base64", "media_type": "image/png", "data": url.partition(",")[2]}
        return {"type": "image", "source": source, "cache_control": {"type": "ephemeral"}}
    return (
        {"type": "image_url", "image_url": {"url": url}}
        if kind == "chat"
        else {"type": "input_image", "image_url": url}
    )


def request_body(kind: Kind, turn: Turn) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages: list[dict[str, Any]] = [
        {"role": roles[at % 2], "content": [image(kind, text)] if text.startswith("data:") else text}
        for at, text in enumerate(turn.texts)
    ]
    tools = [tool(kind, *each) for each in turn.tools]
    if kind == "chat":
        return {
            "model": MODELS[kind],
            "tools": tools,
            "messages": [{"role": "system", "content": turn.system}, *messages],
        }
    if kind == "response":
        return {"model": MODELS[kind], "tools": tools, "instructions": turn.system, "input": messages}
    mark = {"cache_control": {"type": "ephemeral"}}
    if isinstance(messages[-1]["content"], str):
        messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"], **mark}]
    system = [{"type": "text", "text": turn.system, **mark}]
    return {"model": MODELS[kind], "max_tokens": 99, "tools": tools, "system": system, "messages": messages}


def response_body(kind: Kind, turn: Turn) -> dict[str, Any]:
    cached = turn.cached or 0
    if kind == "message":
        usage = {"input_tokens": turn.input_tokens - cached, "output_tokens": 9}
        usage |= (
            {"cache_read_input_tokens": cached, "cache_creation_input_tokens": 0} if turn.cached is not None else {}
        )
        return {"content": [{"type": "text", "text": turn.answer}], "usage": usage, "model": MODELS[kind]}
    if kind == "response":
        details = {} if turn.cached is None else {"input_tokens_details": {"cached_tokens": cached}}
        usage = {"input_tokens": turn.input_tokens, "output_tokens": 9, "total_tokens": turn.input_tokens + 9}
        content = [{"type": "output_text", "text": turn.answer}]
        return {"output": [{"type": "message", "role": "assistant", "content": content}], "usage": usage | details}
    details = {} if turn.cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    usage = {"prompt_tokens": turn.input_tokens, "completion_tokens": 9, "total_tokens": turn.input_tokens + 9}
    message = {"role": "assistant", "content": turn.answer}
    return {"choices": [{"index": 0, "message": message}], "usage": usage | details}


def entries_of(
    kind: Kind, turns: list[Turn], change: Callable[[dict[str, Any]], None] = lambda _: None, **usage: Any
) -> list[Entry]:
    """Return the turns with the facts and links that the recorder would store.

    ``change`` changes the last request, and ``usage`` replaces the usage of the last response.
    """
    entries, at = [], START_US
    for number, turn in enumerate(turns, 1):
        at += int(turn.after_s * 1_000_000)
        sent, answered = request_body(kind, turn), response_body(kind, turn)
        if number == len(turns):
            change(sent)
            answered["usage"] = usage or answered["usage"]
        tokens = counts_of(answered["usage"], kind).tokens
        record = record_of(
            number,
            started_at=at,
            ended_at=at + 500_000,
            duration_ms=500.0,
            kind=kind,
            model=MODELS[kind],
            method="POST",
            path=f"/v1{PATHS[kind]}",
            input_tokens=tokens.input,
            cached_tokens=tokens.cached,
            namespace="agent",
        )
        entry = entry_of(record, json.dumps(sent).encode(), json.dumps(answered).encode())
        chain = build_chain(request_of(sent, kind), reading_of(answered, kind).response)
        entry.chain = None if chain is None else encode_chain(chain)
        entries.append(entry)
    return entries


def store_of(entries: list[Entry]) -> MemoryStore:
    store = MemoryStore()
    store.commit(Batch(entries=entries))
    return store


def asker_of(store: MemoryStore, prices: Prices | None = None) -> Asker:
    return Asker(store, clock.monotonic_ns() + 60 * clock.NANOSECONDS, prices=prices or Prices(own=OWN))


def reports(entries: list[Entry], prices: Prices | None = None) -> list[CacheReport]:
    """Return the report on every request, and check that the thread says the same."""
    asker = asker_of(store_of(entries), prices)
    single = [asker.cache(entry.record.id) for entry in entries]
    thread = asker.thread_cache(Filter((Term("namespace", ("agent",)),)), 100)
    assert thread.complete
    for one, two in zip(single, thread.data, strict=True):
        if two.compared_with is not None:
            assert one == two
    return single


def conversation(answer: str = "It is sent. " * 10) -> list[Turn]:
    """Return three turns, each of which begins like the one before."""
    tools = [("read_file", "Read a file. " * 30), ("write_file", "Write a file. " * 30)]
    texts = ["Where is my refund? " * 40]
    turns = []
    for number in range(3):
        turns.append(Turn(tools, SYSTEM, [*texts], f"{number} {answer}", 2400 + 300 * number, 2048 if number else 0))
        texts += [f"{number} {answer}", f"And number {number}? " * 150]
    return turns


class Expected(NamedTuple):
    """What the ledger says about the third turn."""

    kind: str
    where: str
    character: int | None
    #: Characters that are equal from the start, besides those of tools.
    equal: int
    #: Tools that are equal from the start.
    equal_tools: int
    #: Characters that were sent before and are sent again, besides those of tools.
    again: int
    again_tools: int
    before: str
    after: str


def edit(text: str, at: int, old: str, new: str) -> str:
    assert text[at : at + len(old)] == old
    return text[:at] + new + text[at + len(old) :]


def date_in_system(turns: list[Turn]) -> Expected:
    turns[2] = turns[2]._replace(system=edit(SYSTEM, DATE_AT, "2026-11-28", "2026-11-29"))
    before = turns[1].characters
    return Expected(
        "date", f"the system prompt, character {DATE_AT + 10:,}", DATE_AT + 10, DATE_AT + 9, 2, before - 1, 2, "8", "9"
    )


def whitespace_in_system(turns: list[Turn]) -> Expected:
    at = SYSTEM.index("Today")
    turns[2] = turns[2]._replace(system=edit(SYSTEM, at, "Today", " Today"))
    before = turns[1].characters
    return Expected("whitespace", f"the system prompt, character {at + 1:,}", at + 1, at, 2, before, 2, "", " ")


def message_in_the_middle(turns: list[Turn]) -> Expected:
    first = turns[2].texts[0]
    turns[2] = turns[2]._replace(texts=[first, edit(turns[2].texts[1], 5, "is", "was"), *turns[2].texts[2:]])
    equal, again = len(SYSTEM) + len(first) + 5, turns[1].characters - len("i")
    return Expected("text", "message 3 (assistant), character 6", 6, equal, 2, again, 2, "i", "wa")


def tools_reordered(turns: list[Turn]) -> Expected:
    turns[2] = turns[2]._replace(tools=turns[2].tools[::-1])
    again = turns[1].characters
    return Expected("tools_reordered", "tool 1 (write_file)", None, 0, 0, again, 2, "read_file", "write_file")


def tool_added(turns: list[Turn]) -> Expected:
    turns[2] = turns[2]._replace(tools=[*turns[2].tools, ("list_files", "List the files.")])
    return Expected("tool_added", "tool 3 (list_files)", None, 0, 2, turns[1].characters, 2, "", "list_files")


def image_replaced(turns: list[Turn]) -> Expected:
    for at in (1, 2):
        turns[at] = turns[at]._replace(texts=[PIXEL, *turns[at].texts[1:]])
    turns[2] = turns[2]._replace(texts=[PIXEL + "AAAA", *turns[2].texts[1:]])
    again = turns[1].characters - 4000
    return Expected("media", "message 2 (user)", None, len(SYSTEM), 2, again, 2, "[image]", "[image]")


SCENARIOS: list[Callable[[list[Turn]], Expected]] = [
    date_in_system,
    whitespace_in_system,
    message_in_the_middle,
    tools_reordered,
    tool_added,
    image_replaced,
]


@pytest.mark.parametrize("has_usage", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_break_is_where_the_ledger_says(
    scenario: Callable[[list[Turn]], Expected], kind: Kind, has_usage: bool
) -> None:
    turns = conversation()
    expected = scenario(turns)
    tools = [tool_length(kind, *each) for each in turns[1].tools]
    sent = turns[2]
    total = sent.characters + sum(tool_length(kind, *each) for each in sent.tools)
    equal_characters = expected.equal + sum(tools[: expected.equal_tools])
    equal_tokens = round(sent.input_tokens * equal_characters / total)
    again_tokens = round(sent.input_tokens * (expected.again + sum(tools[: expected.again_tools])) / total)
    cached = equal_tokens // 128 * 128
    turns[2] = sent._replace(cached=cached if has_usage else None)

    first, second, third = reports(entries_of(kind, turns))

    assert (first.state, first.compared_with) == ("first", None)
    if scenario is not image_replaced:  # there, the second turn changes, too
        assert (second.state, second.change, second.missed_usd) == ("cached", None, 0.0)
    assert third.state == "broken"
    assert third.compared_with == second.id
    change = third.change
    assert change is not None
    assert (change.kind, change.where, change.character) == (expected.kind, expected.where, expected.character)
    assert (change.before, change.after) == (expected.before, expected.after)
    assert third.equal_characters == equal_characters
    assert (third.equal_tokens, third.sent_again_tokens) == (equal_tokens, again_tokens)
    if has_usage:
        assert (third.cached_tokens, third.missed_tokens) == (cached, again_tokens - cached)
        assert third.missed_usd == pytest.approx((again_tokens - cached) * (2.0 - 0.5) / 1e6, abs=1e-12)
    else:
        assert (third.reason, third.missed_tokens, third.missed_usd) == ("not_stated", None, None)


def equal_turns(cached: int, **second: Any) -> list[Turn]:
    """Return two turns; the second begins like the first, and the provider read ``cached`` tokens from its cache."""
    first, other = conversation()[:2]
    return [first, other._replace(cached=cached, **second)]


def last(entries: list[Entry], prices: Prices | None = None) -> CacheReport:
    return reports(entries, prices)[-1]


@pytest.mark.parametrize(
    ("kind", "after_s", "fields", "reason", "text"),
    [
        ("message", 320, {}, "expired", "that was 5.3 minutes ago, and the provider keeps it for 5 minutes."),
        ("chat", 3700, {}, "expired", "that was 1 hour ago, and the provider keeps it for 1 hour."),
        ("chat", 700, {}, "perhaps_expired", "OpenAI may remove it after 5 minutes without use."),
        ("chat", 0.2, {}, "concurrent", "its response had not begun when this request was sent."),
        ("chat", 10, {"key": "other"}, "other_key", "it was sent with another API key."),
        ("chat", 10, {}, "unexplained", "another machine may have answered, or it was removed."),
        ("response", 10, {}, "unexplained", "the provider did not find it"),
    ],
)
def test_an_equal_prompt_that_was_not_cached_has_a_reason(
    kind: Kind, after_s: float, fields: dict[str, Any], reason: str, text: str
) -> None:
    entries = entries_of(kind, equal_turns(0, after_s=after_s))
    for name, value in fields.items():
        setattr(entries[-1].record, name, value)
    found = last(entries)
    assert (found.state, found.reason, found.change) == ("not_cached", reason, None)
    assert text in found.text
    assert found.seconds_between == after_s
    assert found.missed_tokens == found.sent_again_tokens
    assert found.missed_usd == pytest.approx((found.missed_tokens or 0) * 1.5e-6)


def test_a_prompt_can_be_too_short_to_be_cached() -> None:
    found = last(entries_of("chat", equal_turns(0, input_tokens=900)))
    assert (found.state, found.reason, found.missed_tokens, found.missed_usd) == ("not_cached", "too_short", 0, 0.0)
    assert found.text == "Too short to cache: this provider caches prompts from 1,024 tokens."


@pytest.mark.parametrize("kind", KINDS)
def test_without_prices_the_cost_of_a_miss_is_unknown(kind: Kind) -> None:
    no_cached_price = {MODELS[kind]: PriceSettings(input_mtok=2.0, output_mtok=8.0)}
    found = last(entries_of(kind, equal_turns(0)), Prices(own=no_cached_price))
    assert (found.state, found.missed_usd) == ("not_cached", None)


class Other(NamedTuple):
    """A change of a body: its kind, place and texts."""

    change: Callable[[dict[str, Any]], None]
    kind: str
    where: str
    before: str
    after: str


def set_field(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda body: body.update({name: value})


def drop_messages(body: dict[str, Any]) -> None:
    del body["messages"][1:3]


OTHERS: list[tuple[Kind, Other]] = [
    ("message", Other(set_field("tool_choice", {"type": "any"}), "parameter", "the parameter tool_choice", "", "{")),
    ("message", Other(set_field("thinking", {"type": "adaptive"}), "parameter", "the parameter thinking", "", "{")),
    ("chat", Other(set_field("model", "gpt-4.1"), "model", "the model", "gpt-4o-mini", "gpt-4.1")),
    ("chat", Other(set_field("response_format", {"type": "json_object"}), "parameter", "response_format", "", "{")),
    ("chat", Other(drop_messages, "messages_removed", "message 2 (user)", "Where is", "And number")),
]


@pytest.mark.parametrize(("kind", "other"), OTHERS)
def test_other_changes_break_the_prompt(kind: Kind, other: Other) -> None:
    turns = conversation()
    found = last(entries_of(kind, [*turns[:2], turns[2]._replace(cached=0)], other.change))
    assert found.change is not None
    assert found.change.kind == other.kind
    assert other.where in found.change.where
    assert found.change.before.startswith(other.before)
    assert found.change.after.startswith(other.after)
    assert found.state == "broken"


def test_a_parameter_of_anthropic_keeps_the_cache_of_tools_and_system_prompt() -> None:
    found = last(entries_of("message", equal_turns(0), set_field("tool_choice", {"type": "any"})))
    tools = sum(tool_length("message", *each) for each in conversation()[0].tools)
    assert found.equal_characters == tools + len(SYSTEM)


def test_breakpoints_limit_what_can_be_cached() -> None:
    def unmark(body: dict[str, Any]) -> None:
        for message in body["messages"]:
            for part in message["content"] if isinstance(message["content"], list) else ():
                part.pop("cache_control", None)

    found = last(entries_of("message", equal_turns(1800), unmark))
    assert (found.state, found.missed_tokens) == ("cached", 0)
    assert [section.breakpoints for section in found.sent] == [0, 1, 0]

    def unmark_all(body: dict[str, Any]) -> None:
        unmark(body)
        body["system"][0].pop("cache_control")

    found = last(entries_of("message", equal_turns(0), unmark_all))
    assert (found.state, found.reason, found.missed_tokens) == ("not_cached", "no_breakpoint", found.sent_again_tokens)


def test_tokens_that_were_written_again_cost_what_writing_costs() -> None:
    prices = {
        MODELS["message"]: PriceSettings(
            input_mtok=2.0, output_mtok=8.0, cache_read_mtok=0.5, cache_write_mtok=2.5, cache_write_1h_mtok=4.0
        )
    }
    lifetimes = {"ephemeral_5m_input_tokens": 1600, "ephemeral_1h_input_tokens": 1000}
    usage = {"input_tokens": 100, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 2600}
    entries = entries_of("message", equal_turns(0, after_s=400), **usage, output_tokens=9, cache_creation=lifetimes)
    found = last(entries, Prices(own=prices))
    missed = found.missed_tokens or 0
    assert (found.written_tokens, found.written_1h_tokens) == (2600, 1000)
    assert 1600 < missed < 2600
    assert found.missed_usd == pytest.approx((1000 * 4.0 + (missed - 1000) * 2.5 - missed * 0.5) / 1e6)


def test_without_a_conversation_the_latest_request_that_begins_alike_is_compared() -> None:
    alike = conversation()[0]
    other = alike._replace(system="Something else. " * 400, tools=[])
    asked = alike._replace(texts=["Another question. " * 40], cached=0)
    entries = entries_of("chat", [alike, alike._replace(texts=["And a third one?"]), other, asked])
    asker = asker_of(store_of(entries))
    found = asker.cache(entries[3].record.id)
    assert (found.compared_with, found.state) == (entries[1].record.id, "not_cached")
    assert found.change is not None
    assert found.change.where == "message 2 (user), character 3"  # And, Another


def test_a_rejected_request_is_not_compared_with() -> None:
    first, second, _ = conversation()
    entries = entries_of("chat", [first, second, second._replace(after_s=1)])
    entries[1].record.status, entries[1].record.failed = 429, True
    assert last(entries).compared_with == entries[0].record.id


def test_bodies_of_rejected_requests_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, _ = conversation()
    entries = entries_of("chat", [first, *([second] * 40)])
    for entry in entries[1:-1]:
        entry.record.status, entry.record.failed = 429, True
    read: list[str] = []
    request = RequestView.request

    def counting(view: RequestView) -> Any:
        read.append(view.record.id)
        return request(view)

    asker = asker_of(store_of(entries))
    monkeypatch.setattr(RequestView, "request", counting)
    assert asker.cache(entries[-1].record.id).compared_with == entries[0].record.id
    assert sorted(set(read)) == sorted({entries[0].record.id, entries[-1].record.id})


def test_a_request_with_the_id_of_a_response_sends_all_of_the_earlier_request_again() -> None:
    def continue_stored(body: dict[str, Any]) -> None:
        body["previous_response_id"] = "resp_1"
        body["input"] = body["input"][-1:]

    entries = entries_of("response", equal_turns(2000), continue_stored)
    entries[0].record.completion_id = "resp_1"
    found = last(entries)
    assert (found.compared_with, found.sent_again_tokens) == (entries[0].record.id, 2400)
    assert (found.state, found.equal_characters) == ("cached", None)


def test_a_request_without_bodies_cannot_be_compared() -> None:
    entries = entries_of("chat", equal_turns(0))
    entries[1].request = None
    found = asker_of(store_of(entries)).cache(entries[1].record.id)
    assert (found.state, found.reason, found.input_tokens) == ("unknown", "not_stored", 2700)
