"""Test the content of responses."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.generation import (
    FixedTokens,
    cached_tokens,
    complete_chat,
    is_reasoning_model,
    sample_value,
)
from relaybook_demo.simulator.requests import ChatRequest, Function, JsonSchema, Message, ResponseFormat, Tool

WEATHER = Tool(function=Function("weather", {"properties": {"city": {"type": "string"}}}))
TIME = Tool(function=Function("time"))


def chat(prompt: str = "Refund?", model: str = "gpt-4o", **more: Any) -> ChatRequest:
    return ChatRequest([Message("user", prompt)], model, **more)


def test_a_response_ends_by_itself() -> None:
    completion = complete_chat(chat(), 0)
    assert completion.finish_reason == "stop"
    assert completion.output_tokens == len(completion.tokens) > 5


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_token_limit_truncates_the_response(name: str) -> None:
    completion = complete_chat(chat("Refund?", "gpt-4o", **{name: 3}), 0)
    assert (len(completion.tokens), completion.finish_reason) == (3, "length")


def test_reasoning_counts_towards_the_limit() -> None:
    full = complete_chat(chat(model="o3"), 0)
    assert full.reasoning
    short = complete_chat(chat(model="o3", max_completion_tokens=len(full.reasoning) + 2), 0)
    assert (short.reasoning, len(short.tokens)) == (full.reasoning, 2)
    assert complete_chat(chat(model="o3", max_completion_tokens=1), 0).tokens == ()


def test_a_stop_sequence_ends_the_text() -> None:
    text = complete_chat(chat(), 0).text
    word = text.split()[3]
    assert complete_chat(chat(stop=["never there", word]), 0).text == text.partition(word)[0]


def test_a_user_message_calls_the_first_tool() -> None:
    completion = complete_chat(chat("Weather in Rome?", tools=[WEATHER, TIME]), 0)
    assert [call.name for call in completion.tool_calls] == ["weather"]
    assert json.loads(completion.tool_calls[0].arguments) == {"city": "Weather in Rome?"}
    assert (completion.text, completion.finish_reason) == ("", "tool_calls")


def test_a_prompt_with_and_calls_two_tools() -> None:
    both = chat("Weather and time?", tools=[WEATHER, TIME])
    assert [call.name for call in complete_chat(both, 0).tool_calls] == ["weather", "time"]
    both.parallel_tool_calls = False
    assert len(complete_chat(both, 0).tool_calls) == 1


def test_tool_choice_is_respected() -> None:
    request = chat("x", tools=[WEATHER, TIME], tool_choice="none")
    assert complete_chat(request, 0).tool_calls == ()
    request.tool_choice = {"type": "function", "function": {"name": "time"}}
    assert [call.name for call in complete_chat(request, 0).tool_calls] == ["time"]


def test_a_tool_whose_pattern_matches_no_word_is_not_called() -> None:
    order = {"properties": {"order": {"type": "string", "pattern": "^[0-9]{4}$"}}, "required": ["order"]}
    refund = Tool(function=Function("get_refund", order))
    (call,) = complete_chat(chat("Where is the money for order 4411?", tools=[refund]), 0).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_refund", {"order": "4411"})
    assert complete_chat(chat("When will it be there?", tools=[refund]), 0).tool_calls == ()
    assert [call.name for call in complete_chat(chat("And?", tools=[refund, TIME]), 0).tool_calls] == ["time"]
    assert complete_chat(chat("And?", tools=[refund], tool_choice="required"), 0).finish_reason == "tool_calls"


def test_a_prompt_can_name_the_tool_and_its_arguments() -> None:
    prompt = 'Please call the tool time with {"zone": {"city": "Rome"}} and then stop.'
    request = chat(prompt, tools=[WEATHER, TIME])
    (call,) = complete_chat(request, 0).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("time", {"zone": {"city": "Rome"}})
    assert complete_chat(chat(prompt, tools=[WEATHER]), 0).tool_calls == ()
    assert complete_chat(chat("Call the tool time with {zone}", tools=[TIME]), 0).tool_calls == ()
    request.messages += [Message("tool", "noon"), Message("user", "What now?")]
    assert complete_chat(request, 0).tool_calls == ()


@pytest.mark.parametrize("parameters", [None, {}, {"required": ["a"]}, {"properties": {"a": 1}, "required": ["a", 7]}])
def test_tools_without_patterns_are_called_for_every_prompt(parameters: Any) -> None:
    tool = Tool(function=Function("any", parameters))
    assert [call.name for call in complete_chat(chat("x", tools=[tool]), 0).tool_calls] == ["any"]


def test_the_response_contains_the_tool_result() -> None:
    request = ChatRequest([Message("user", "x"), Message("tool", "21 degrees")], "gpt-4o", tools=[WEATHER])
    assert complete_chat(request, 0).text == "Here is what I found: 21 degrees"
    request.messages[-1].content = '{"order": "4411", "state": "sent", "sent_on": "Monday", "amount": "€3.00"}'
    assert complete_chat(request, 0).text.startswith("The refund for order 4411 is **sent**: €3.00 left")
    request.messages[-1].content = '{"order": "4411"}'
    assert complete_chat(request, 0).text == 'Here is what I found: {"order": "4411"}'


def test_the_last_user_message_determines_the_response() -> None:
    messages = [Message("user", "A haiku about tea"), Message("assistant", "Steam"), Message("user", "And a joke?")]
    assert "therapy" in complete_chat(ChatRequest(messages, "gpt-4o"), 0).text


def test_a_structured_output_fits_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "tags": {"type": "array"}, "n": {"enum": [4]}},
    }
    response_format = ResponseFormat("json_schema", JsonSchema(schema))
    output = json.loads(complete_chat(chat(response_format=response_format), 0).text)
    assert (output["ok"], output["n"], len(output["tags"])) == (True, 4, 1)
    assert "answer" in json.loads(complete_chat(chat(response_format=ResponseFormat("json_object")), 0).text)


def test_fixed_tokens_replace_text_and_tools() -> None:
    completion = complete_chat(chat(tools=[WEATHER]), 0, FixedTokens(("a", "b")))
    assert (completion.text, completion.tool_calls) == ("ab", ())


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 1),
        ({"type": ["null", "string"]}, None),
        ({"anyOf": [{"const": 7}]}, 7),
        ({"default": "d"}, "d"),
        (None, "t"),
        ({"type": "unheard of"}, "t"),
        ({"enum": ["red", "Blue"]}, "Blue"),
        ({"enum": [1, None]}, 1),
        ({"type": "string", "pattern": "^[0-9]+$"}, "4411"),
        ({"type": "string", "pattern": "^z"}, "t"),
        ({"type": "string", "pattern": "("}, "t"),
    ],
)
def test_sample_values_fit_their_schema(schema: Any, value: Any) -> None:
    assert sample_value(schema, "t", "The blue one, order 4411?") == value


def test_cached_tokens_are_multiples_of_128_from_1024() -> None:
    assert [cached_tokens(messages) for messages in (0, 1023, 1024, 1200)] == [0, 0, 1024, 1152]


def test_reasoning_models_are_recognized_by_name() -> None:
    assert [is_reasoning_model(name) for name in ("o1", "o3-mini", "o4-mini", "sim-reasoner", "gpt-4o")] == [
        True
    ] * 4 + [False]
