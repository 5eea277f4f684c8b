"""Test that a comparison has what differs between two requests, of whatever API, and nothing else."""

import json
from typing import Any

import pytest
from tests.support.api_log import client_of, entry_of, head_of, open_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook.log.record import Detail
from relaybook.log.store.port import Batch

SYSTEM = "You answer questions about orders."
QUESTION = {"role": "user", "content": "Where is my refund?"}
TOOL = {"type": "function", "function": {"name": "find", "description": "Finds it.", "parameters": {"type": "object"}}}
CHAT = {
    "model": "m",
    "temperature": 0.5,
    "tools": [TOOL],
    "messages": [{"role": "system", "content": SYSTEM}, QUESTION],
}
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "It was sent."}}]}
#: The same request to Anthropic's Messages API.
ANTHROPIC = {
    "model": "m",
    "temperature": 0.5,
    "max_tokens": 100,
    "tools": [{"name": "find", "description": "Finds it.", "input_schema": {"type": "object"}}],
    "system": [{"type": "text", "text": SYSTEM}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Where is my refund?"}]}],
}
ANTHROPIC_ANSWER = {"type": "message", "content": [{"type": "text", "text": "It was sent."}], "stop_reason": "end_turn"}
CHAT_PATH = {"method": "POST", "path": "/v1/chat/completions"}


def compared(
    a: Any = CHAT, b: Any = CHAT, answers: tuple[Any, Any] = (ANSWER, ANSWER), of_a: Any = None, **fields: Any
) -> Any:
    """Compare two requests. ``fields`` and ``of_a`` are fields of the records of the second and the first request."""
    store = MemoryStore()
    entries = []
    for number, (body, answer, more) in enumerate(zip((a, b), answers, (of_a or {}, fields), strict=True)):
        data, response = (
            each if isinstance(each, bytes | None) else json.dumps(each).encode() for each in (body, answer)
        )
        sizes = {"request_bytes": len(data or b""), "response_bytes": len(response or b"")}
        entries.append(entry_of(record_of(number, **(CHAT_PATH | sizes | more)), data, response))
    store.commit(Batch(entries=entries))
    return asked(store)


def asked(store: MemoryStore) -> Any:
    reply = client_of(store).get(f"/api/compare?a={record_of(0).id}&b={record_of(1).id}")
    assert reply.status == 200
    return reply.json()


def changes(difference: Any) -> list[tuple[str, str]]:
    return [(piece["kind"], piece["text"]) for piece in difference["pieces"] if piece["kind"] != "equal"]


def with_messages(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**CHAT, "messages": list(messages), **fields}


def test_equal_requests_are_said_to_be_equal() -> None:
    found = compared()
    assert found["summary"] == "The requests are equal."
    assert (found["same_request"], found["same_response"]) == (True, True)
    lists = ("facts", "parameters", "system", "tools", "messages", "response", "missing")
    assert [found[name] for name in lists] == [[]] * len(lists)


def test_equal_requests_can_differ_in_timing() -> None:
    found = compared(of_a={"output_tokens": 2, "first_token_ms": 1.0}, duration_ms=12.0, output_tokens=3)
    assert found["summary"] == "The requests are equal. Only the timing and the tokens differ."
    assert [(fact["name"], fact["a"], fact["b"]) for fact in found["facts"]] == [
        ("duration_ms", None, 12.0),
        ("output_tokens", 2, 3),
    ]


@pytest.mark.parametrize(
    ("of_a", "of_b", "only"),
    [
        ({}, {"duration_ms": 12.0}, "Only the timing differs."),
        ({"output_tokens": 2}, {"output_tokens": 3}, "Only the tokens differ."),
        ({"cost_usd": 0.1}, {"cost_usd": 0.2}, "Only the cost differs."),
        (
            {"input_tokens": 2, "cost_usd": 0.1},
            {"input_tokens": 3, "cost_usd": 0.2, "duration_ms": 12.0},
            "Only the timing, the tokens and the cost differ.",
        ),
    ],
)
def test_the_sentence_about_equal_requests_names_what_was_measured(
    of_a: dict[str, Any], of_b: dict[str, Any], only: str
) -> None:
    assert compared(of_a=of_a, **of_b)["summary"] == f"The requests are equal. {only}"


def test_a_request_is_the_same_as_itself() -> None:
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record_of(0))]))
    any_id = record_of(0).id
    assert client_of(store).get(f"/api/compare?a={any_id}&b={any_id}").json()["summary"] == (
        "A and B are the same request."
    )


def test_one_word_of_the_system_prompt_and_one_parameter_are_all_that_differs() -> None:
    other = {
        **CHAT,
        "temperature": 1.5,
        "messages": [{"role": "system", "content": SYSTEM.replace("orders", "tea")}, QUESTION],
    }
    found = compared(b=other)
    assert found["summary"] == "Differences (timing not counted): 1 parameter, system prompt."
    assert found["parameters"] == [{"name": "temperature", "a": "0.5", "b": "1.5"}]
    (system,) = found["system"]
    assert changes(system["text"]) == [("removed", "orders"), ("added", "tea")]
    assert (found["messages"], found["response"], found["same_response"]) == ([], [], True)


def test_requests_of_two_apis_with_the_same_content_differ_only_in_what_is_sent_differently() -> None:
    found = compared(b=ANTHROPIC, answers=(ANSWER, ANTHROPIC_ANSWER), kind="message", path="/anthropic/v1/messages")
    assert {fact["name"] for fact in found["facts"]} == {"kind", "path"}
    assert found["parameters"] == [{"name": "max_tokens", "b": "100"}]
    assert [found[name] for name in ("system", "tools", "messages", "response")] == [[]] * 4


def test_nested_parameters_are_compared_by_field_and_without_their_order() -> None:
    a = {**CHAT, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True}}}
    b = {
        **CHAT,
        "response_format": {"json_schema": {"strict": False, "name": "x"}, "type": "json_schema"},
        "seed": None,
    }
    assert compared(a, b)["parameters"] == [
        {"name": "response_format.json_schema.strict", "a": "true", "b": "false"},
        {"name": "seed", "b": "null"},
    ]


def test_a_long_value_is_compared_as_text() -> None:
    long = ["stop " * 50]
    (found,) = compared({**CHAT, "stop": long}, {**CHAT, "stop": [*long, "end"]})["parameters"]
    assert "a" not in found
    assert any("end" in text for _, text in changes(found["text"]))


def test_tools_are_compared_by_name() -> None:
    changed = {"type": "function", "function": TOOL["function"] | {"description": "Looks for it."}}
    more = {"type": "function", "function": {"name": "send", "parameters": {}}}
    found = compared(b={**CHAT, "tools": [more, changed]})["tools"]
    assert [(tool["name"], tool["kind"]) for tool in found] == [("find", "changed"), ("send", "added")]
    assert changes(found[0]["text"]) == [("removed", "Finds"), ("added", "Looks for")]


def test_equal_messages_are_counted_and_new_messages_are_added() -> None:
    reply, thanks = {"role": "assistant", "content": "It was sent."}, {"role": "user", "content": "Thanks"}
    found = compared(b={**CHAT, "messages": [*CHAT["messages"], reply, thanks]})["messages"]  # type: ignore[misc]
    assert [(each["kind"], each.get("count", 1), each.get("role")) for each in found] == [
        ("equal", 1, None),
        ("added", 1, "assistant"),
        ("added", 1, "user"),
    ]


def test_a_changed_message_among_equal_ones_is_found() -> None:
    many = [{"role": ("user", "assistant")[at % 2], "content": f"message {at}"} for at in range(200)]
    other = [*many[:100], {"role": "user", "content": "message hundred"}, *many[101:]]
    found = compared(with_messages(*many), with_messages(*other))["messages"]
    assert [(each["kind"], each.get("count", 1), each["a"], each["b"]) for each in found] == [
        ("equal", 100, 0, 0),
        ("changed", 1, 100, 100),
        ("equal", 99, 101, 101),
    ]


def test_of_very_many_changed_messages_only_some_are_listed() -> None:
    many = [{"role": "user", "content": f"message {at}"} for at in range(1000)]
    other = [{"role": "user", "content": f"note {at}"} for at in range(1000)]
    found = compared(with_messages(*many), with_messages(*other))["messages"]
    assert [each["kind"] for each in found] == ["changed"] * 200 + ["more"]
    assert found[-1]["count"] == 800


def test_ids_and_the_spelling_of_arguments_are_not_compared() -> None:
    def turn(call_id: str, arguments: str) -> dict[str, Any]:
        call = {"id": call_id, "type": "function", "function": {"name": "find", "arguments": arguments}}
        result = {"role": "tool", "tool_call_id": call_id, "content": "4411"}
        return with_messages(QUESTION, {"role": "assistant", "content": None, "tool_calls": [call]}, result)

    assert compared(turn("call_1", '{"a": 1, "b": 2}'), turn("call_2", '{"b":2,"a":1}'))["messages"] == []
    (_, changed, _) = compared(turn("call_1", '{"a": 1}'), turn("call_2", '{"a": 2}'))["messages"]
    assert changes(changed["text"]) == [("removed", "1"), ("added", "2")]


def test_images_with_other_bytes_differ() -> None:
    def image(data: str) -> dict[str, Any]:
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return with_messages({"role": "user", "content": [part]})

    assert compared(image("AAAA"), image("AAAA"))["messages"] == []
    assert compared(image("AAAA"), image("BBBB"))["messages"][0]["kind"] == "changed"


def test_a_field_that_only_one_message_has_is_named() -> None:
    cached = {**ANTHROPIC, "system": [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]}
    paths = {"kind": "message", "path": "/v1/messages"}
    (system,) = compared(ANTHROPIC, cached, (ANTHROPIC_ANSWER,) * 2, of_a=paths, **paths)["system"]
    assert "text" not in system
    assert [field["name"] for field in system["fields"]] == ["cache_control"]


def test_results_tags_and_versions_are_facts() -> None:
    found = compared(
        answers=(ANSWER | {"system_fingerprint": "fp_1"}, {"error": {"message": "Too many requests"}}),
        status=429,
        failed=True,
        error_message="Too many requests",
        properties={"channel": "iOS"},
        of_a={"response_model": "m-1"},
        key="k2",
        user="ann",
    )
    facts = {fact["name"]: (fact["a"], fact["b"]) for fact in found["facts"]}
    assert facts == {
        "result": ("200", "429 rate limited"),
        "error_message": (None, "Too many requests"),
        "key": (None, "k2"),
        "user": (None, "ann"),
        "property.channel": (None, "iOS"),
    }
    assert [each["kind"] for each in found["response"]] == ["removed"]
    assert found["summary"] == "Differences (timing not counted): result, API key, user, 1 property, response."


def test_versions_of_models_are_facts() -> None:
    answers = (ANSWER | {"system_fingerprint": "fp_1"}, ANSWER | {"system_fingerprint": "fp_2"})
    found = compared(answers=answers, of_a={"response_model": "m-1"}, response_model="m-2")
    assert [(fact["name"], fact["a"], fact["b"]) for fact in found["facts"]] == [
        ("response_model", "m-1", "m-2"),
        ("system_fingerprint", "fp_1", "fp_2"),
    ]


@pytest.mark.parametrize(
    ("fields", "body", "message"),
    [
        ({"body_state": "no_bodies"}, None, "Not stored, because this request was logged without bodies."),
        ({"body_state": "expired"}, None, "No longer stored, because the content of this request has expired."),
        ({"kind": "other"}, CHAT, "Relaybook does not read the bodies of this API."),
    ],
)
def test_what_cannot_be_compared_is_said(fields: dict[str, Any], body: Any, message: str) -> None:
    found = compared(b=body, answers=(ANSWER, None if body is None else ANSWER), **fields)
    assert [(each["side"], each["body"], each["message"]) for each in found["missing"]] == [
        ("b", "request", message),
        ("b", "response", message),
    ]
    assert found["messages"] == []
    if fields.get("kind") is None:
        assert found["summary"] == "What could be compared is equal."
        assert (found["same_request"], found["same_response"]) == (None, None)


def test_a_body_with_a_damaged_encoding_cannot_be_compared() -> None:
    store = MemoryStore()
    data = json.dumps(CHAT).encode()
    detail = Detail(request_head=head_of(("Content-Encoding", "gzip")))
    sizes = CHAT_PATH | {"request_bytes": 9, "response_bytes": 2}
    store.commit(
        Batch(
            entries=[entry_of(record_of(0, **sizes), data), entry_of(record_of(1, **sizes), b"not gzip", b"{}", detail)]
        )
    )
    (missing,) = asked(store)["missing"]
    assert (missing["side"], missing["body"]) == ("b", "request")


def test_a_running_request_is_compared_as_far_as_it_has_come() -> None:
    store = MemoryStore()
    running = open_of(1, **CHAT_PATH, request_bytes=1)
    store.commit(Batch(entries=[entry_of(record_of(0, **CHAT_PATH), json.dumps(CHAT).encode())], running=[running]))
    found = asked(store)
    assert [(each["body"], each["message"]) for each in found["missing"]] == [
        ("request", "The request body of a running request cannot be read yet."),
        ("response", "The request is still running. Its response so far is compared."),
    ]


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[1, 2]", b"not json", b'{"messages": 7, "tools": {"a": 1}}', b"\xff\xfe"]
)
def test_odd_bodies_are_compared_too(body: bytes) -> None:
    assert compared(body, body)["same_request"] is True
    assert compared(CHAT, body)["same_request"] is False


def test_an_unknown_or_missing_id_is_an_error() -> None:
    client = client_of(MemoryStore())
    assert client.get("/api/compare?a=x&b=y").status == 404
    reply = client.get("/api/compare?a=x")
    assert (reply.status, reply.json()["error"]["param"]) == (400, "b")
