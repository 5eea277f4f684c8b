"""Every message, item, part and block that the official SDKs can send is read, and none of its texts is lost."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import cohere
import msgspec
import pytest
from anthropic.types import ContentBlockParam
from anthropic.types.beta import BetaContentBlockParam
from google.genai import types
from google.genai._gaos.types.interactions import Content, Step
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionMessageParam
from openai.types.responses import ResponseInputContentParam, ResponseInputItemParam
from tests.conformance.accumulators.values import members, value

from relaybook.apis import match
from relaybook.log.formats.reading import read_request


class Place(NamedTuple):
    """Where values of a union stand in a request. ``body`` returns the request with a value."""

    name: str
    path: str
    union: Any
    body: Callable[[Any], dict[str, Any]]


PLACES = (
    Place("cohere message", "/v2/chat", cohere.ChatMessageV2, lambda each: {"messages": [each]}),
    Place("cohere part", "/v2/chat", cohere.Content, lambda each: {"messages": [{"role": "user", "content": [each]}]}),
    Place(
        "cohere result",
        "/v2/chat",
        cohere.ToolContent,
        lambda each: {"messages": [{"role": "tool", "tool_call_id": "c1", "content": [each]}]},
    ),
    Place("cohere item", "/v1/chat", cohere.Message, lambda each: {"chat_history": [each]}),
    Place("chat message", "/v1/chat/completions", ChatCompletionMessageParam, lambda each: {"messages": [each]}),
    Place(
        "chat part",
        "/v1/chat/completions",
        ChatCompletionContentPartParam,
        lambda each: {"messages": [{"role": "user", "content": [each]}]},
    ),
    Place("response item", "/v1/responses", ResponseInputItemParam, lambda each: {"input": [each]}),
    Place(
        "response part",
        "/v1/responses",
        ResponseInputContentParam,
        lambda each: {"input": [{"role": "user", "content": [each]}]},
    ),
    Place(
        "message block",
        "/v1/messages",
        ContentBlockParam,
        lambda each: {"max_tokens": 9, "messages": [{"role": "user", "content": [each]}]},
    ),
    Place(
        "beta message block",
        "/v1/messages",
        BetaContentBlockParam,
        lambda each: {"max_tokens": 9, "messages": [{"role": "assistant", "content": [each]}]},
    ),
    Place(
        "generate part",
        "/v1beta/models/m:generateContent",
        types.Part,
        lambda each: {"contents": [{"role": "user", "parts": [each]}]},
    ),
    Place("interaction step", "/v1beta/interactions", Step, lambda each: {"input": [each]}),
    Place("interaction content", "/v1beta/interactions", Content, lambda each: {"input": each}),
)
CASES = [
    pytest.param(place, model, id=f"{place.name} {model.__name__}")
    for place in PLACES
    for model in members(place.union)
    if not model.__name__.startswith("Unknown")
]
#: Values of ``type`` and ``role``, which the model says in its own words.
NAMES = ("type", "role", "format")


@pytest.mark.parametrize(("place", "model"), CASES)
@settings(deadline=None, max_examples=20)
@given(random=st.integers(0, 2**32 - 1).map(Random))
def test_every_type_is_read_and_no_text_is_lost(place: Place, model: Any, random: Random) -> None:
    sent = value(random, model)
    request = read_request(json.dumps(place.body(sent)).encode(), match("POST", place.path))
    assert request.understood
    assert request.messages
    kept = list(texts(msgspec.to_builtins(request.messages), omitted=()))
    kept += [text for each in kept if each[:1] in ("{", "[") for text in texts(json_or_none(each))]
    assert [text for text in texts(sent) if text and not any(text in each for each in kept)] == []


def texts(value: Any, omitted: tuple[str, ...] = NAMES) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, omitted)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in omitted or not isinstance(each, str):
                yield from texts(each, omitted)


def json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
