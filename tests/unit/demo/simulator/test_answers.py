"""What a chat request is answered with."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.answers import Fixed, answer_chat, cached_tokens, reasons, sample
from relaybook_demo.simulator.requests import ChatRequest, Function, JsonSchema, Message, ResponseFormat, Tool

WEATHER = Tool(function=Function("weather", {"properties": {"city": {"type": "string"}}}))
TIME = Tool(function=Function("time"))


def chat(prompt: str = "Refund?", model: str = "gpt-4o", **more: Any) -> ChatRequest:
    return ChatRequest([Message("user", prompt)], model, **more)


def test_answer_stops_by_itself() -> None:
    answer = answer_chat(chat(), 0)
    assert answer.finish_reason == "stop"
    assert answer.output_tokens == len(answer.tokens) > 5


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_limit_cuts_the_answer(name: str) -> None:
    answer = answer_chat(chat("Refund?", "gpt-4o", **{name: 3}), 0)
    assert (len(answer.tokens), answer.finish_reason) == (3, "length")


def test_reasoning_counts_against_the_limit() -> None:
    full = answer_chat(chat(model="o3"), 0)
    assert full.reasoning
    short = answer_chat(chat(model="o3", max_completion_tokens=len(full.reasoning) + 2), 0)
    assert (short.reasoning, len(short.tokens)) == (full.reasoning, 2)
    assert answer_chat(chat(model="o3", max_completion_tokens=1), 0).tokens == ()


def test_stop_sequence_ends_the_text() -> None:
    whole = answer_chat(chat(), 0).text
    word = whole.split()[3]
    assert answer_chat(chat(stop=["never there", word]), 0).text == whole.partition(word)[0]


def test_tool_is_called_for_a_user_who_asks() -> None:
    answer = answer_chat(chat("Weather in Rome?", tools=[WEATHER, TIME]), 0)
    assert [call.name for call in answer.tool_calls] == ["weather"]
    assert json.loads(answer.tool_calls[0].arguments) == {"city": "Weather in Rome?"}
    assert (answer.text, answer.finish_reason) == ("", "tool_calls")


def test_two_tools_are_called_for_a_question_with_and() -> None:
    both = chat("Weather and time?", tools=[WEATHER, TIME])
    assert [call.name for call in answer_chat(both, 0).tool_calls] == ["weather", "time"]
    both.parallel_tool_calls = False
    assert len(answer_chat(both, 0).tool_calls) == 1


def test_tool_choice_is_kept_to() -> None:
    request = chat("x", tools=[WEATHER, TIME], tool_choice="none")
    assert answer_chat(request, 0).tool_calls == ()
    request.tool_choice = {"type": "function", "function": {"name": "time"}}
    assert [call.name for call in answer_chat(request, 0).tool_calls] == ["time"]


def test_a_tool_whose_pattern_finds_no_word_is_not_called() -> None:
    order = {"properties": {"order": {"type": "string", "pattern": "^[0-9]{4}$"}}, "required": ["order"]}
    refund = Tool(function=Function("get_refund", order))
    (call,) = answer_chat(chat("Where is the money for order 4411?", tools=[refund]), 0).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_refund", {"order": "4411"})
    assert answer_chat(chat("When will it be there?", tools=[refund]), 0).tool_calls == ()
    assert [call.name for call in answer_chat(chat("And?", tools=[refund, TIME]), 0).tool_calls] == ["time"]
    assert answer_chat(chat("And?", tools=[refund], tool_choice="required"), 0).finish_reason == "tool_calls"


@pytest.mark.parametrize("parameters", [None, {}, {"required": ["a"]}, {"properties": {"a": 1}, "required": ["a", 7]}])
def test_tools_without_patterns_are_called_for_every_question(parameters: Any) -> None:
    tool = Tool(function=Function("any", parameters))
    assert [call.name for call in answer_chat(chat("x", tools=[tool]), 0).tool_calls] == ["any"]


def test_tool_result_is_told() -> None:
    request = ChatRequest([Message("user", "x"), Message("tool", "21 degrees")], "gpt-4o", tools=[WEATHER])
    assert answer_chat(request, 0).text == "Here is what I found: 21 degrees"
    request.messages[-1].content = '{"order": "4411", "state": "sent", "sent_on": "Monday", "amount": "€3.00"}'
    assert answer_chat(request, 0).text.startswith("The refund for order 4411 is **sent**: €3.00 left")
    request.messages[-1].content = '{"order": "4411"}'
    assert answer_chat(request, 0).text == 'Here is what I found: {"order": "4411"}'


def test_the_last_question_is_answered() -> None:
    asked = [Message("user", "A haiku about tea"), Message("assistant", "Steam"), Message("user", "And a joke?")]
    assert "therapy" in answer_chat(ChatRequest(asked, "gpt-4o"), 0).text


def test_structured_answer_fits_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "tags": {"type": "array"}, "n": {"enum": [4]}},
    }
    wanted = ResponseFormat("json_schema", JsonSchema(schema))
    found = json.loads(answer_chat(chat(response_format=wanted), 0).text)
    assert (found["ok"], found["n"], len(found["tags"])) == (True, 4, 1)
    assert "answer" in json.loads(answer_chat(chat(response_format=ResponseFormat("json_object")), 0).text)


def test_fixed_tokens_replace_text_and_tools() -> None:
    answer = answer_chat(chat(tools=[WEATHER]), 0, Fixed(("a", "b")))
    assert (answer.text, answer.tool_calls) == ("ab", ())


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
def test_samples_fit(schema: Any, value: Any) -> None:
    assert sample(schema, "t", "The blue one, order 4411?") == value


def test_cache_counts_in_steps_above_a_thousand() -> None:
    assert [cached_tokens(asked) for asked in (0, 1023, 1024, 1200)] == [0, 0, 1024, 1152]


def test_reasoning_models_are_known_by_name() -> None:
    assert [reasons(name) for name in ("o1", "o3-mini", "o4-mini", "sim-reasoner", "gpt-4o")] == [True] * 4 + [False]
