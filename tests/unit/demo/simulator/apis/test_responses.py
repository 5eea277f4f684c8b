"""Test the Responses API."""

import json

from relaybook_demo.simulator.apis.responses import respond
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.replies import Stamp
from relaybook_demo.simulator.requests import InputItem, ResponsesRequest, ResponsesTool

STAMP = Stamp("ab", 5)


def test_events_are_numbered_and_end_with_the_response() -> None:
    events = respond(ResponsesRequest("Hi", "gpt-4o", stream=True), NO_DIRECTIVES, STAMP).events
    assert events is not None
    decoded = [json.loads(event.data) for event in events]
    assert [event["sequence_number"] for event in decoded] == list(range(len(events)))
    assert [event.name.decode() for event in events] == [event["type"] for event in decoded]
    body = json.loads(respond(ResponsesRequest("Hi", "gpt-4o"), NO_DIRECTIVES, STAMP).body)
    assert decoded[-1] == {"type": "response.completed", "sequence_number": len(events) - 1, "response": body}


def test_a_token_limit_makes_the_response_incomplete() -> None:
    request = ResponsesRequest([InputItem("user", "Hi")], "o3", max_output_tokens=2)
    body = json.loads(respond(request, NO_DIRECTIVES, STAMP).body)
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert body["usage"]["output_tokens_details"] == {"reasoning_tokens": 2}


def test_usage_can_be_missing() -> None:
    assert "usage" not in json.loads(respond(ResponsesRequest("Hi"), Directives(usage="missing"), STAMP).body)
    assert json.loads(respond(ResponsesRequest("Hi"), Directives(usage="null"), STAMP).body)["usage"] is None


def test_a_function_is_called_and_its_output_gets_a_text() -> None:
    tools = [ResponsesTool("web_search"), ResponsesTool("function", "weather", {"properties": {"city": {}}})]
    request = ResponsesRequest([InputItem("user", "Rome?")], "gpt-4o", tools=tools, stream=True)
    events = respond(request, NO_DIRECTIVES, STAMP).events
    assert events is not None
    decoded = [json.loads(event.data) for event in events]
    (call,) = decoded[-1]["response"]["output"]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "weather", '{"city":"Rome?"}')
    deltas = [event["delta"] for event in decoded if event["type"] == "response.function_call_arguments.delta"]
    assert "".join(deltas) == call["arguments"]
    assert isinstance(request.input, list)
    request.input += [InputItem(type="function_call"), InputItem(type="function_call_output", output="21 degrees")]
    body = json.loads(respond(request, Directives(stream=False), STAMP).body)
    assert body["output"][0]["content"][0]["text"] == "Here is what I found: 21 degrees"


def test_tool_choice_names_the_function() -> None:
    tools = [ResponsesTool("function", "weather"), ResponsesTool("function", "time")]
    request = ResponsesRequest("Rome?", "gpt-4o", tools=tools, tool_choice={"type": "function", "name": "time"})
    body = json.loads(respond(request, NO_DIRECTIVES, STAMP).body)
    assert [item["name"] for item in body["output"]] == ["time"]


def test_a_custom_tool_of_an_input_item_is_called_with_a_text() -> None:
    namespace = ResponsesTool("namespace", "functions", tools=[ResponsesTool("custom", "exec")])
    prompt = 'Call the tool exec with {"input": "text(1)"}'
    items = [InputItem("developer", type="additional_tools", tools=[namespace]), InputItem("user", prompt)]
    request = ResponsesRequest(items, "gpt-4o", stream=True)
    events = respond(request, NO_DIRECTIVES, STAMP).events
    assert events is not None
    decoded = [json.loads(event.data) for event in events]
    (call,) = decoded[-1]["response"]["output"]
    assert (call["type"], call["name"], call["input"]) == ("custom_tool_call", "exec", "text(1)")
    deltas = [event["delta"] for event in decoded if event["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(deltas) == "text(1)"
    items += [InputItem(type="custom_tool_call"), InputItem(type="custom_tool_call_output", output="1")]
    body = json.loads(respond(request, Directives(stream=False), STAMP).body)
    assert body["output"][0]["content"][0]["text"] == "Here is what I found: 1"
