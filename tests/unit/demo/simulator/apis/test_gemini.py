"""Test Google's Gemini API of the simulated upstream."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
KEY = (b"x-goog-api-key", b"AIza-test")
MODEL = "/v1beta/models/gemini-2.5-flash"
QUESTION = [{"role": "user", "parts": [{"text": "Can I get a refund?"}]}]
WEATHER = {
    "name": "weather",
    "parameters": {
        "type": "OBJECT",
        "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}},
        "required": ["city"],
    },
}
TOOLS = [{"functionDeclarations": [WEATHER, {"name": "news"}]}]
THOUGHTS = {"thinkingConfig": {"includeThoughts": True}}


def post(path: str, body: Any, key: Any = KEY, method: str = "POST", directives: Directives = NO_DIRECTIVES) -> Reply:
    request = Request(method, path.encode(), [key] if key else [])
    request.begin_body()
    request.add_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return reply_to(request, directives, STAMP)


def generate(directives: Directives = NO_DIRECTIVES, **body: Any) -> Any:
    return json.loads(post(f"{MODEL}:generateContent", {"contents": QUESTION, **body}, directives=directives).body)


def stream(directives: Directives = NO_DIRECTIVES, query: str = "?alt=sse", **body: Any) -> list[Any]:
    reply = post(f"{MODEL}:streamGenerateContent{query}", {"contents": QUESTION, **body}, directives=directives)
    return [json.loads(event.data) for event in reply.events or ()]


def joined(chunks: list[Any]) -> dict[int, tuple[str, str, list[Any], str | None]]:
    """Return the text, the thoughts, the function calls and the finish reason of each candidate."""
    outputs: dict[int, tuple[str, str, list[Any], str | None]] = {}
    for candidate in (candidate for chunk in chunks for candidate in chunk["candidates"]):
        text, thoughts, calls, reason = outputs.get(candidate["index"], ("", "", [], None))
        assert reason is None
        for part in candidate["content"].get("parts", ()):
            if part.get("thought"):
                thoughts += part["text"]
            text += "" if part.get("thought") else part.get("text", "")
            calls = [*calls, part["functionCall"]] if "functionCall" in part else calls
        outputs[candidate["index"]] = text, thoughts, calls, candidate.get("finishReason")
    return outputs


def error_of(reply: Reply) -> Any:
    return json.loads(reply.body)["error"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"generationConfig": THOUGHTS},
        {"tools": TOOLS},
        {"tools": TOOLS, "generationConfig": THOUGHTS},
        {"generationConfig": {"maxOutputTokens": 2}},
        {"generationConfig": {"maxOutputTokens": 0}},
        {"generationConfig": {"candidateCount": 3}},
    ],
    ids=["text", "thoughts", "tools", "thoughts and tools", "limit", "nothing", "candidates"],
)
def test_a_stream_is_the_same_as_the_whole_response(body: dict[str, Any]) -> None:
    whole, chunks = generate(**body), stream(**body)
    assert joined(chunks) == joined([whole])
    assert chunks[-1]["usageMetadata"] == whole["usageMetadata"]
    assert {(chunk["responseId"], chunk["modelVersion"]) for chunk in chunks} == {("ab", "gemini-2.5-flash")}
    assert (whole["responseId"], whole["modelVersion"]) == ("ab", "gemini-2.5-flash")


@pytest.mark.parametrize(
    ("body", "kinds", "reason"),
    [
        ({}, ["text"], "STOP"),
        ({"generationConfig": THOUGHTS}, ["thought", "text"], "STOP"),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}}, ["text"], "STOP"),
        ({"generation_config": {"thinking_config": {"include_thoughts": True}}}, ["thought", "text"], "STOP"),
        ({"generationConfig": {"maxOutputTokens": 2}}, ["text"], "MAX_TOKENS"),
        ({"generationConfig": {"maxOutputTokens": 0}}, [], "MAX_TOKENS"),
        ({"tools": TOOLS}, ["functionCall"], "STOP"),
        ({"tools": {"function_declarations": WEATHER}}, ["functionCall"], "STOP"),
        ({"tools": TOOLS, "toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, ["text"], "STOP"),
        ({"tools": [{"googleSearch": {}}]}, ["text"], "STOP"),
    ],
)
def test_parts_and_finish_reason_follow_the_request(body: dict[str, Any], kinds: list[str], reason: str) -> None:
    (candidate,) = generate(**body)["candidates"]
    parts = candidate["content"].get("parts", [])
    assert [next(kind for kind in ("thought", "functionCall", "text") if kind in part) for part in parts] == kinds
    assert candidate["finishReason"] == reason


def test_the_arguments_fit_the_schema_of_the_function() -> None:
    ((_, _, (call,), _),) = joined([generate(tools=TOOLS)]).values()
    assert call == {"id": "call_ab00", "name": "weather", "args": {"city": "Can I get a refund?", "days": 1}}


def test_a_named_function_is_called() -> None:
    config = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["news"]}}
    ((_, _, (call,), _),) = joined([generate(tools=TOOLS, toolConfig=config)]).values()
    assert call["name"] == "news"


@pytest.mark.parametrize("response", [{"result": "18 °C"}, {"sky": "clear"}])
def test_the_result_of_a_function_is_answered_with_text(response: dict[str, Any]) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Rome"}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": response}}]}
    ((text, _, calls, _),) = joined([generate(contents=[*QUESTION, call, result], tools=TOOLS)]).values()
    told = response.get("result") or '{"sky":"clear"}'
    assert (text, calls) == (f"Here is what I found: {told}", [])


@pytest.mark.parametrize("name", ["responseSchema", "responseJsonSchema"])
def test_a_schema_gets_json(name: str) -> None:
    schema = {"type": "OBJECT", "properties": {"count": {"type": "INTEGER"}}}
    if name == "responseJsonSchema":
        schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    config = {"responseMimeType": "application/json", name: schema}
    ((text, _, _, _),) = joined([generate(generationConfig=config)]).values()
    assert json.loads(text) == {"count": 1}


def test_an_image_counts_no_tokens_and_the_text_beside_it_is_answered() -> None:
    image = {"inline_data": {"mime_type": "image/png", "data": "AAAA" * 50_000}}
    whole = generate(contents=[{"role": "user", "parts": [{"text": "Can I get a refund?"}, image]}])
    assert whole == generate()


def test_thoughts_are_counted_apart_and_signed() -> None:
    plain, whole = generate(), generate(generationConfig=THOUGHTS)
    usage = whole["usageMetadata"]
    assert usage["thoughtsTokenCount"] > 10
    assert usage["candidatesTokenCount"] == plain["usageMetadata"]["candidatesTokenCount"]
    assert usage["totalTokenCount"] == plain["usageMetadata"]["totalTokenCount"] + usage["thoughtsTokenCount"]
    assert "thoughtSignature" in whole["candidates"][0]["content"]["parts"][-1]
    assert "thoughtsTokenCount" not in plain["usageMetadata"]


def test_thoughts_of_earlier_turns_are_not_part_of_the_text() -> None:
    answer, thought = {"text": "Yes."}, {"text": "Let me think.", "thought": True}
    with_thought, without = (
        generate(contents=[*QUESTION, {"role": "model", "parts": parts}, *QUESTION])
        for parts in ([thought, answer], [answer])
    )
    assert with_thought == without


def test_long_prompts_are_read_from_the_cache() -> None:
    usage = generate(system_instruction={"parts": {"text": "word " * 2000}})["usageMetadata"]
    assert 1024 < usage["cachedContentTokenCount"] <= usage["promptTokenCount"]


def test_counting_gives_the_tokens_of_the_prompt() -> None:
    count = generate(systemInstruction={"parts": [{"text": "Be brief."}]})["usageMetadata"]["promptTokenCount"]
    inner = {"contents": QUESTION, "systemInstruction": {"parts": [{"text": "Be brief."}]}}
    counted = json.loads(post(f"{MODEL}:countTokens", {"generateContentRequest": inner}).body)
    assert counted["totalTokens"] == count
    assert json.loads(post(f"{MODEL}:countTokens", {"contents": QUESTION}).body)["totalTokens"] < count


def test_embeddings_depend_on_the_text_only() -> None:
    path = "/v1beta/models/gemini-embedding-001"
    first, second = ({"content": {"parts": [{"text": text}]}, "outputDimensionality": 4} for text in "ab")
    batch = json.loads(post(f"{path}:batchEmbedContents", {"requests": [first, second]}).body)
    single = json.loads(post(f"{path}:embedContent", second).body)
    assert [len(embedding["values"]) for embedding in batch["embeddings"]] == [4, 4]
    assert batch["embeddings"][1] == single["embedding"]
    assert batch["embeddings"][0] != single["embedding"]
    assert (batch["usageMetadata"]["promptTokenCount"], single["usageMetadata"]["promptTokenCount"]) == (2, 1)


@pytest.mark.parametrize("path", ["/v1beta/models", "/v1/models", "/v1beta/models?pageSize=50"])
def test_every_listed_model_exists(path: str) -> None:
    listed = json.loads(post(path, b"", method="GET").body)["models"]
    for model in listed:
        assert json.loads(post(f"/v1beta/{model['name']}", b"", method="GET").body) == model
    assert {"models/gemini-2.5-flash", "models/gemini-embedding-001"} <= {model["name"] for model in listed}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/gemini-2.5-flash:generateContent",
        "/v1beta/models/gemini%2D2.5-flash:generateContent",
        "http://host/v1beta/models/gemini-2.5-flash:generateContent",
        "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
        "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
    ],
)
def test_every_path_of_the_api_is_served(path: str) -> None:
    assert json.loads(post(path, {"contents": QUESTION}).body) == generate()


@pytest.mark.parametrize(
    ("path", "body", "code", "status"),
    [
        (f"{MODEL}:generateContent", b"{", 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:generateContent", b"\xff", 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:generateContent", {}, 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:generateContent", {"contents": 5}, 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:generateContent", [], 400, "INVALID_ARGUMENT"),
        (
            f"{MODEL}:generateContent",
            {"contents": QUESTION, "generationConfig": {"candidateCount": 9}},
            400,
            "INVALID_ARGUMENT",
        ),
        (f"{MODEL}:countTokens", {}, 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:batchEmbedContents", {}, 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:embedContent", {}, 400, "INVALID_ARGUMENT"),
        (f"{MODEL}:nothing", {}, 404, "NOT_FOUND"),
        ("/v1beta/models/gpt-4o:generateContent", {"contents": QUESTION}, 404, "NOT_FOUND"),
        ("/v1beta/files", {}, 404, "NOT_FOUND"),
    ],
)
def test_errors_have_googles_structure(path: str, body: Any, code: int, status: str) -> None:
    reply = post(path, body)
    error = error_of(reply)
    assert (reply.status, error["code"], error["status"]) == (code, code, status)
    assert error["message"]
    assert reply.request_id_header is None


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (503, "UNAVAILABLE"),
        (502, "INTERNAL"),
    ],
)
def test_a_status_directive_gets_an_error_in_googles_format(status: int, name: str) -> None:
    reply = post(f"{MODEL}:generateContent", b"", key=None, directives=Directives(status=status))
    assert (reply.status, error_of(reply)["code"], error_of(reply)["status"]) == (status, status, name)


@pytest.mark.parametrize(
    ("key", "query", "code"),
    [
        (None, "", 403),
        (None, "?key=", 403),
        (None, "?key=AIza-test", 200),
        (None, "?key=sk-invalid-1", 400),
        ((b"Authorization", b"Bearer ya29.token"), "", 200),
        ((b"X-Goog-Api-Key", b"sk-invalid"), "", 400),
    ],
)
def test_the_key_is_in_a_header_or_in_the_query(key: Any, query: str, code: int) -> None:
    reply = post(f"{MODEL}:generateContent{query}", {"contents": QUESTION}, key=key)
    assert reply.status == code
    if code == 400:
        assert error_of(reply)["details"][0]["reason"] == "API_KEY_INVALID"


def test_the_query_decides_the_form_of_a_stream() -> None:
    events, array = (
        post(f"{MODEL}:streamGenerateContent{query}", {"contents": QUESTION}) for query in ("?alt=sse", "?alt=json")
    )
    assert (events.stream_format, events.content_type) == ("sse", b"text/event-stream; charset=utf-8")
    assert (array.stream_format, array.content_type) == ("json-array", b"application/json; charset=UTF-8")
    assert events.events == array.events


def test_directives_change_the_usage_and_the_candidates() -> None:
    assert "usageMetadata" not in generate(Directives(usage="missing"))
    assert generate(Directives(usage="null"))["usageMetadata"] is None
    assert all("usageMetadata" not in chunk for chunk in stream(Directives(usage="missing")))
    assert generate(Directives(choices="empty"))["candidates"] == []
    assert all("candidates" not in chunk for chunk in stream(Directives(choices="missing")))


def test_directives_set_the_text() -> None:
    ((text, _, _, _),) = joined([generate(Directives(answer_tokens=4))]).values()
    assert text == "The lantern keeps a"
    assert generate(Directives(stream=False))["candidates"]
    assert stream(Directives(stream=True))


def test_the_error_event_of_a_stream_has_googles_structure() -> None:
    event = post(f"{MODEL}:streamGenerateContent?alt=sse", {"contents": QUESTION}).error_event
    assert event is not None
    assert json.loads(event.data)["error"]["status"] == "UNAVAILABLE"
