"""Whole responses with every field, block and item that the official SDKs declare are read, and no text is lost."""

import json
from random import Random
from typing import Any

import msgspec
import pytest
from cohere import NonStreamedChatResponse, V2ChatResponse
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types import Completion
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel
from tests.conformance.accumulators.message_streams import BETA, STABLE, Api
from tests.conformance.accumulators.response_streams import ITEMS
from tests.conformance.accumulators.test_request_types import json_or_none, texts
from tests.conformance.accumulators.values import instance

from relaybook.apis import Kind
from relaybook.log.formats.reading import read_response

SEEDS = st.integers(0, 2**32 - 1).map(Random)
EXAMPLES = settings(deadline=None, max_examples=30)


def assert_nothing_is_lost(kind: Kind, sent: dict[str, Any]) -> None:
    """Read a response, and check that its texts are in the model."""
    reading = read_response(json.dumps(sent).encode(), kind, is_event_stream=False, complete=True)
    kept = list(texts(msgspec.to_builtins(reading.response), omitted=()))
    kept += [text for each in kept if each[:1] in ("{", "[") for text in texts(json_or_none(each), omitted=())]
    lost = [text for text in texts(sent, (*NAMES, "object")) if text and not any(text in each for each in kept)]
    assert lost == []


#: Values that the model says in its own words, and fields that are not kept.
NAMES = ("type", "role", "format", "obfuscation")


@EXAMPLES
@given(SEEDS)
def test_a_chat_completion_loses_no_text(random: Random) -> None:
    sent = instance(random, ChatCompletion)
    for choice in sent["choices"]:
        if choice["message"].get("audio"):
            choice["message"]["audio"]["data"] = ""  # only the body has it
    assert_nothing_is_lost("chat", sent)


@EXAMPLES
@given(SEEDS)
def test_a_text_completion_loses_no_text(random: Random) -> None:
    assert_nothing_is_lost("completion", instance(random, Completion))


@pytest.mark.parametrize("model", [V2ChatResponse, NonStreamedChatResponse])
@EXAMPLES
@given(SEEDS)
def test_a_response_of_cohere_loses_no_text(model: type[BaseModel], random: Random) -> None:
    assert_nothing_is_lost("cohere", instance(random, model, finish_reason="COMPLETE"))


@EXAMPLES
@given(SEEDS)
def test_a_response_loses_no_text(random: Random) -> None:
    assert_nothing_is_lost("response", instance(random, Response, output=[]))


@pytest.mark.parametrize("kind", ITEMS)
@settings(EXAMPLES, max_examples=10)
@given(SEEDS)
def test_an_item_of_a_response_loses_no_text(kind: str, random: Random) -> None:
    items = [instance(random, ITEMS[kind], type=kind) for _ in range(2)]
    assert_nothing_is_lost("response", {"id": "resp_1", "object": "response", "output": items})


@pytest.mark.parametrize(
    ("api", "kind"),
    [(api, kind) for api in (STABLE, BETA) for kind in api.blocks],
    ids=lambda each: "stable" if each is STABLE else "beta" if each is BETA else each,
)
@settings(EXAMPLES, max_examples=10)
@given(SEEDS)
def test_a_block_of_a_message_loses_no_text(api: Api, kind: str, random: Random) -> None:
    message = api.events["message_start"].model_fields["message"].annotation
    assert message is not None
    blocks = [instance(random, api.blocks[kind], type=kind) for _ in range(2)]
    for block in blocks:
        if kind == "fallback":
            block["to"]["model"] = "claude-x"
    assert_nothing_is_lost("message", instance(random, message, 0, model="claude-x", content=blocks))
