"""Generate the entries of the big log."""

import random
from collections.abc import Sequence
from typing import Any, Final

from benchmarks.big_log.bodies import (
    ERROR_MESSAGES,
    Conversation,
    conversation_length,
    error_body,
    request_body,
    request_head,
    response_body,
    response_head,
    user_message,
)
from benchmarks.big_log.facts import LONG_THREAD, LONG_THREAD_NAMESPACE, Facts, Recipe
from benchmarks.big_log.words import (
    DRAWN_CHANNELS,
    DRAWN_FEATURES,
    DRAWN_LABELS,
    DRAWN_MODELS,
    USER_WEIGHTS,
    USERS,
    Model,
    Words,
    user_name,
)
from relaybook.apis import match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.record import Detail, Record, encode_chain
from relaybook.log.store.entry import Body, Entry

_KEYS: Final = ("3fa9c2d1e0b4", "91b04c77aa2e", "c0ffee12ab34", "5d1e9f003b7a")


class BigLog:
    """Generates the entries of a recipe, in order."""

    def __init__(self, recipe: Recipe) -> None:
        self._facts = recipe.facts()
        self._long_thread = recipe.long_thread
        self._chance = random.Random(recipe.seed)
        self._sentences = Words(recipe.seed).sentences
        turns = max(20, min(2000, recipe.records // 500))
        self._conversations = [self._new_conversation() for _ in range(turns)]
        self._long = Conversation(LONG_THREAD_NAMESPACE, DRAWN_MODELS[0], "chat", LONG_THREAD, self._next_message)

    def entries(self, first: int, count: int) -> list[Entry]:
        """Return the entries from number ``first``. Each call must continue the previous one."""
        users = self._users(count)
        return [self._entry(number, user) for number, user in enumerate(users, first)]

    def _users(self, count: int) -> Sequence[int]:
        return self._chance.choices(range(USERS), cum_weights=USER_WEIGHTS, k=count)

    def _text(self, sentences: int) -> str:
        chance, known = self._chance.random, self._sentences
        return " ".join([known[int(chance() * len(known))] for _ in range(sentences)])

    def _next_message(self) -> str:
        return self._text(1)

    def _new_conversation(self) -> Conversation:
        chance = self._chance
        model, feature = DRAWN_MODELS[chance.getrandbits(12)], DRAWN_FEATURES[chance.getrandbits(12)]
        namespace = user_name(self._users(1)[0])
        return Conversation(namespace, model, feature, conversation_length(chance), self._next_message)

    def _entry(self, number: int, user: int) -> Entry:
        facts = self._facts(number)
        bits = facts.bits
        if number in self._long_thread:
            return self._turn(facts, self._long)
        if not bits & 1:
            place = number % len(self._conversations)
            conversation = self._conversations[place]
            entry = self._turn(facts, conversation)
            if conversation.turns_left == 0:
                self._conversations[place] = self._new_conversation()
            return entry
        question = f"Ticket {ticket}. {self._text(2)}" if (ticket := ticket_of(facts)) else self._text(3)
        feature = DRAWN_FEATURES[bits >> 13 & 0xFFF]
        name = user_name(user) if bits & 6 else None
        told = _properties(bits, feature, name)
        is_named = name is not None and bits & 0x18 == 0
        label, model = DRAWN_LABELS[bits >> 1 & 0xFFF], DRAWN_MODELS[bits >> 25 & 0xFFF]
        request = request_body(model.name, feature, user_message(question), name if is_named else None)
        entry, _ = self._made(facts, (label, told, model), question, request)
        entry.record.user = name if is_named else None
        return entry

    def _turn(self, facts: Facts, conversation: Conversation) -> Entry:
        it = conversation
        told = _properties(facts.bits, it.feature, it.namespace if facts.bits & 6 == 6 else None)
        request = request_body(it.model.name, it.feature, it.messages, None)
        entry, output_text = self._made(facts, (it.namespace, told, it.model), it.question, request)
        if output_text is not None:
            it.add_response(output_text)
        return entry

    def _made(
        self, facts: Facts, tags: tuple[str, dict[str, str], Model], question: str, request: bytes
    ) -> tuple[Entry, bytes | None]:
        """Return an entry, and the output text if the response is successful."""
        namespace, properties, model = tags
        key = _KEYS[facts.bits & 3]
        answered: dict[str, Any] = {}
        text: bytes | None = None
        if facts.ending.is_well:
            output_text = self._text(2)
            text = output_text.encode()
            response, answered = _response_of(facts, model, request, output_text, text)
        elif facts.ending.error:
            response = error_body(facts.ending.error)
            answered["error_code"] = facts.ending.error
            answered["error_message"] = ERROR_MESSAGES[facts.ending.error]
        else:
            response = b""
        record = Record(
            id=facts.id,
            started_at=facts.started_at,
            ended_at=facts.started_at + facts.duration_us,
            outcome=facts.ending.outcome,
            failed=facts.ending.error is not None,
            namespace=namespace,
            properties=properties,
            upstream="https://api.openai.com/v1",
            method="POST",
            path="/v1/chat/completions",
            kind="chat",
            client_address="127.0.0.1",
            user_agent="OpenAI/Python 3.52.0",
            key=key,
            model=model.name,
            status=facts.ending.status,
            duration_ms=facts.duration_us / 1e3,
            relay_ms=0.1 + (facts.bits & 0xFF) / 1e3,
            chunks=1,
            request_bytes=len(request),
            response_bytes=len(response),
            provider_request_id=facts.provider_request_id,
            client_request_id=facts.client_request_id,
            retry_count=0,
            input_preview=question[:200],
            **answered,
        )
        detail = Detail(
            reason="OK" if text else "",
            request_head=request_head(key, facts.client_request_id),
            response_head=response_head(facts.provider_request_id, facts.duration_us, facts.bits),
            chunk_at_us=[facts.duration_us],
            chunk_bytes=[len(response)],
        )
        entry = Entry(record=record, detail=detail, request=Body(rest=[request]), response=Body(rest=[response]))
        entry.chain = _turn(request, response, is_well=facts.ending.is_well)
        return entry, text


def _turn(request: bytes, response: bytes, *, is_well: bool) -> bytes | None:
    """Return the encoded message chain that the recorder derives from the bodies."""
    asked = read_request(request, match("POST", "/v1/chat/completions"))
    said = read_response(response, "chat", is_event_stream=False, complete=True).response if is_well else None
    chain = build_chain(asked, said)
    return None if chain is None else encode_chain(chain)


def ticket_of(facts: Facts) -> str | None:
    """Return a word that occurs only in this record, or `None`. One in 64 requests with a label has a unique word."""
    return f"tk{facts.provider_request_id[4:16]}" if facts.bits & 0x7F == 1 else None


def _properties(bits: int, feature: str, user: str | None) -> dict[str, str]:
    """Return the properties that the client set. Some clients omit some properties."""
    told: dict[str, str] = {"user": user} if user else {}
    if bits >> 5 & 3:
        told["channel"] = DRAWN_CHANNELS[bits >> 20 & 0xFFF]
    if bits >> 7 & 1:
        told["feature"] = feature
    return told


def _response_of(
    facts: Facts, model: Model, request: bytes, output_text: str, text: bytes
) -> tuple[bytes, dict[str, Any]]:
    """Return the body of a successful response, and the record's fields that are derived from it."""
    asked, given = len(request) // 4, len(text) // 4 + 1
    tokens = (asked, given, asked // 2 if asked > 1024 else 0)
    response = response_body(facts.completion_id, facts.started_at, model.name, text, tokens)
    fields = {
        "response_model": model.name,
        "completion_id": facts.completion_id,
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
        "cached_tokens": tokens[2],
        "reasoning_tokens": 0,
        "finish_reason": "stop",
        "output_preview": output_text[:200],
    }
    if model.input_usd is not None and model.output_usd is not None:
        fields["cost_usd"] = (asked * model.input_usd + given * model.output_usd) / 1e6
        fields["prices_version"] = "2026-11-01"
    return response, fields
