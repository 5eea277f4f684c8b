"""Requests of chat completions of the golden file, and errors of all kinds."""

from collections.abc import Iterator
from typing import Any

from tests.golden.chat_messages import ASKED, CHAT, CUSTOM, REQUEST, TOOLS, WEATHER, whole_body
from tests.golden.exchange import JSON_HEAD, GoldenExchange, encode

ANSWER = encode(whole_body({"content": "Sunny."}))
PNG = f"data:image/png;base64,{'iVBORw0KGgo' * 20}"


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def told(content: Any, id_: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


SYSTEM = {"role": "system", "content": "Be brief."}

#: Fields of the request.
REQUESTS: dict[str, dict[str, Any]] = {
    "system": {"messages": [SYSTEM, ASKED]},
    "developer": {"messages": [{"role": "developer", "content": [text("Be brief.")]}, ASKED]},
    "only_system": {"messages": [SYSTEM]},
    "parts": {"messages": [user([text("One."), text("Two.")])]},
    "strings_as_parts": {"messages": [user(["first", "second"])]},
    "image_url": {
        "messages": [user([text("What?"), {"type": "image_url", "image_url": {"url": "https://a.org/b.png"}}])]
    },
    "image_data": {
        "messages": [user([{"type": "image_url", "image_url": {"url": PNG, "detail": "low"}}, text("What?")])]
    },
    "image_as_string": {"messages": [user([{"type": "image_url", "image_url": PNG}])]},
    "audio": {"messages": [user([{"type": "input_audio", "input_audio": {"data": "UklG" * 20, "format": "wav"}}])]},
    "file_data": {
        "messages": [
            user([{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}}])
        ]
    },
    "file_id": {"messages": [user([{"type": "file", "file": {"file_id": "file-1"}}])]},
    "video": {"messages": [user([{"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}])]},
    "unknown_part": {"messages": [user([{"type": "hologram", "hologram": {"id": 1}}, 5, None])]},
    "reminder": {"messages": [user([text("<system-reminder>\nKeep going.\n</system-reminder>"), text("Weather?")])]},
    "names": {
        "messages": [SYSTEM | {"name": "rules"}, user("Hi", name="Ada"), assistant("Yes?", name="bot"), user("Bye")]
    },
    "tool_turn": {"messages": [ASKED, assistant(None, tool_calls=[WEATHER]), told("21 °C")], "tools": TOOLS},
    "tool_parts": {"messages": [ASKED, assistant("", tool_calls=[WEATHER]), told([text("21"), text("°C")])]},
    "parallel_tools": {
        "messages": [
            ASKED,
            assistant(None, tool_calls=[WEATHER, CUSTOM]),
            told("21"),
            told("[]", "call_3"),
            user("And?"),
        ]
    },
    "function_role": {
        "messages": [
            ASKED,
            assistant(None, function_call={"name": "f", "arguments": "{}"}),
            {"role": "function", "name": "f", "content": "21"},
        ],
        "functions": [{"name": "f", "parameters": {}}],
    },
    "assistant_refusal": {"messages": [ASKED, assistant(None, refusal="No."), user("Why?")]},
    "assistant_refusal_part": {"messages": [ASKED, assistant([{"type": "refusal", "refusal": "No."}]), user("Why?")]},
    "assistant_reasoning": {
        "messages": [ASKED, assistant("Yes", reasoning_content="Hm", reasoning="Hm"), user("Why?")]
    },
    "assistant_prefix": {"messages": [ASKED, assistant("Sun", prefix=True)]},
    "assistant_audio": {"messages": [ASKED, assistant(None, audio={"id": "audio_1"}), user("Again.")]},
    "assistants_in_a_row": {"messages": [ASKED, assistant("One."), assistant("Two."), user("Go on.")]},
    "cache_control": {"messages": [user([text("Long.") | {"cache_control": {"type": "ephemeral"}}])]},
    "metadata": {"messages": [ASKED], "metadata": {"team": "red", "run_id": "7", " ": "x", "n": 5}, "store": True},
    "ids": {"messages": [ASKED], "user": "u-1", "safety_identifier": "s-1", "prompt_cache_key": "k-1"},
    "sampling": {"messages": [ASKED], "temperature": 1.2, "top_p": 0.9, "seed": 7, "stop": ["\n"]},
    "schema": {
        "messages": [ASKED],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}},
    },
    "no_content": {"messages": [{"role": "user"}, {"content": "x"}, {}]},
    "content_object": {"messages": [user({"type": "text", "text": "x"}), user(5), user(True)]},
    "messages_of_wrong_types": {"messages": ["Hi", 5, None, [ASKED]]},
    "messages_as_text": {"messages": "Hi"},
    "empty_messages": {"messages": []},
    "no_messages": {"messages": None},
    "wrong_types": {"messages": [ASKED], "model": 5, "stream": "yes", "user": 7, "metadata": []},
    "extra_body": {"messages": [ASKED], "provider": {"order": ["x"]}, "transforms": [], "é": "ü"},
    "white_space": {"messages": [user("  \n Weather?\t ")]},
    "control_characters": {"messages": [user("a\x00b\x1b[31m\u202e\ud800c")]},
    "long": {"messages": [user("Many words. " * 120)]},
    "many": {"messages": [user("Hi"), assistant("Hello")] * 12 + [user("Bye")]},
}

ERRORS: dict[str, tuple[int, Any]] = {
    "invalid": (
        400,
        {"error": {"message": "Bad role", "type": "invalid_request_error", "param": "messages", "code": None}},
    ),
    "key": (
        401,
        {"error": {"message": "Incorrect API key", "type": "invalid_request_error", "code": "invalid_api_key"}},
    ),
    "credits": (402, {"error": {"message": "Insufficient credits", "code": 402}}),
    "country": (
        403,
        {"error": {"message": "Country not supported", "code": "unsupported_country", "type": "request_forbidden"}},
    ),
    "model": (404, {"error": {"message": "The model does not exist", "code": "model_not_found"}}),
    "detail": (404, {"detail": "Not Found"}),
    "validation": (
        422,
        {"detail": [{"loc": ["body", "model"], "msg": "field required", "type": "value_error.missing"}]},
    ),
    "rate": (429, {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}),
    "server": (500, {"error": {"message": "The server had an error", "type": "server_error"}}),
    "azure": (
        400,
        {"error": {"message": "Filtered", "code": "content_filter", "innererror": {"code": "ResponsibleAIPolicy"}}},
    ),
    "gemini": (400, [{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}]),
    "text": (400, {"error": "model is required"}),
    "mistral": (
        422,
        {"object": "error", "message": {"detail": [{"msg": "Extra inputs"}]}, "type": "invalid", "code": None},
    ),
    "bare": (400, {"message": "Bad", "code": "bad", "type": "t"}),
    "openrouter": (
        502,
        {"error": {"message": "Provider returned error", "code": 502, "metadata": {"provider_name": "X"}}},
    ),
    "html": (502, b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
    "plain": (503, b"upstream connect error"),
    "nothing": (504, b""),
    "not_utf_8": (500, b"\xff\xfe{"),
    "in_200": (200, {"error": {"message": "overloaded", "code": 502}}),
    "object_in_200": (
        200,
        {"object": "error", "message": "2048 tokens.", "type": "BadRequestError", "param": None, "code": 400},
    ),
    "empty_in_200": (200, whole_body({"content": "OK"}, error={"message": "", "type": "", "param": "", "code": None})),
    "success_in_200": (200, whole_body({"content": "OK"}, error={"code": 0, "message": "success"})),
    "choice_in_200": (
        200,
        whole_body({"content": "Sun"}, {"error": {"code": 502, "message": "Failed"}, "finish_reason": "error"}),
    ),
    "html_in_200": (200, b"<!doctype html><title>Sign in</title>"),
    "text_in_200": (200, b'"just text"'),
    "nothing_in_200": (200, b""),
    "cut_json_in_200": (200, ANSWER[:200]),
}


def exchanges() -> Iterator[GoldenExchange]:
    for name, fields in REQUESTS.items():
        yield GoldenExchange(f"chat/request/{name}", CHAT, encode(REQUEST | fields), (ANSWER,))
    for name, data in {
        "not_json": b"{",
        "empty": b"",
        "array": b"[1]",
        "not_utf_8": b'{"model": "m\xff", "messages": [{"role": "user", "content": "\xff"}]}',
        "big_number": b'{"model": "m", "n": ' + b"9" * 400 + b', "messages": [{"role": "user", "content": "Hi"}]}',
        "repeated": b'{"model": "a", "model": "b", "messages": 5, "messages": [{"role": "user", "content": "x"}]}',
        "byte_order_mark": b"\xef\xbb\xbf" + encode(REQUEST),
    }.items():
        yield GoldenExchange(f"chat/request/{name}", CHAT, data, (ANSWER,))
    for name, (status, body) in ERRORS.items():
        data = body if isinstance(body, bytes) else encode(body)
        head = JSON_HEAD if not data.startswith(b"<") else "content-type: text/html"
        yield GoldenExchange(f"chat/error/{name}", CHAT, encode(REQUEST), (data,), status=status, response_head=head)
    yield GoldenExchange(
        "chat/error/of_relay",
        CHAT,
        encode(REQUEST),
        (b'{"error": {"message": "The upstream cannot be reached."}}',),
        status=502,
        made=True,
        outcome="upstream_failed",
        error=("upstream_unreachable", "The upstream cannot be reached."),
    )
    yield GoldenExchange("chat/error/refused", CHAT, b"", (b"{}",), status=403, made=True, outcome="refused")
    yield GoldenExchange(
        "chat/error/cut",
        CHAT,
        encode(REQUEST),
        (ANSWER[:120],),
        outcome="upstream_failed",
        error=("upstream_reset", "The upstream closed the connection."),
    )
    head = "user-agent: a/1\r\nx-client-request-id: mine\r\nx-stainless-retry-count: 2\r\ntraceparent: 00-" + "0" * 31
    yield GoldenExchange(
        "chat/request/headers",
        f"{CHAT}?a=1",
        encode(REQUEST),
        (ANSWER,),
        request_head=head + "1-b7ad6b7169203331-01",
        response_head=f"{JSON_HEAD}\r\nx-request-id: req_1",
    )
