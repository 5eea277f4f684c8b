"""``AzureOpenAI`` works if only its endpoint is changed: chats, streams, tools, responses, embeddings and errors."""

import json
import re
from typing import Any, Final

import openai
import pytest
from tests.conformance.sdk.answers import Answer, Call, assert_recorded, run
from tests.conformance.sdk.calls import QUESTION, TOOLS, World, assemble, unique

#: The route of the relay. Each test runs directly against the simulated upstream, and through this route.
ROUTE: Final = "azure"
KEY: Final = "azure-sdk-caller-1234567890"
#: The name of a deployment. The SDK puts it into the path.
MODEL: Final = "gpt-4o-mini"
VERSION: Final = "2024-10-21"
ASKS_FOR_WEATHER: Final[Any] = [{"role": "user", "content": "The weather in Zürich"}]
USAGE: Final = {"include_usage": True}


def call(base_url: str, style: str, method: str, *, headers: dict[str, str] | None = None, **request: Any) -> Any:
    """Call a method of the ``sync`` or ``async`` client. Returns the response, or the list of the parts of a stream."""
    given = {"azure_ad_token": request.pop("token")} if "token" in request else {"api_key": request.pop("key", KEY)}
    options: Any = {"azure_endpoint": base_url, "api_version": VERSION, "max_retries": 0, **given}
    request = {"model": MODEL, "extra_headers": headers or {}, **request}

    async def call_async() -> Any:
        async with openai.AsyncAzureOpenAI(**options) as client:
            api: Any = client.chat.completions if method == "chat" else getattr(client, method)
            response = await api.create(**request)
            return [part async for part in response] if request.get("stream") else response

    if style == "async":
        return run(call_async())
    with openai.AzureOpenAI(**options) as client:
        api: Any = client.chat.completions if method == "chat" else getattr(client, method)
        response = api.create(**request)
        return list(response) if request.get("stream") else response


def chat(base_url: str, style: str, *, streamed: bool = False, **request: Any) -> Answer:
    request = {"messages": QUESTION, **request}
    if streamed:
        request |= {"stream": True, "stream_options": USAGE}
    response = call(base_url, style, "chat", **request)
    last = response[-1] if streamed else response
    found = Answer(model=last.model, id=last.id)
    if streamed:
        (choice,) = assemble(response)
        found.text, found.finish_reason = choice.text, choice.finish_reason
        found.calls = [Call(name, json.loads(arguments)) for name, arguments in choice.tools]
    else:
        (whole,) = response.choices
        found.text, found.finish_reason = whole.message.content or "", whole.finish_reason
        tools = whole.message.tool_calls or []
        found.calls = [Call(each.function.name, json.loads(each.function.arguments), each.id) for each in tools]
    found.input_tokens, found.output_tokens = last.usage.prompt_tokens, last.usage.completion_tokens
    found.cached_tokens = last.usage.prompt_tokens_details.cached_tokens
    return found


REQUESTS: Final = {
    "plain": {},
    "parameters": {"temperature": 0.2, "stop": ["zzz"], "user": "user-42"},
    "tools": {"tools": TOOLS, "messages": ASKS_FOR_WEATHER},
    "long and cached": {"messages": [{"role": "user", "content": "word " * 20_000}]},
    "truncated": {"max_tokens": 3},
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_whole_and_streamed_chats_are_the_same(base_url: str, style: str, request_: dict[str, Any]) -> None:
    whole = chat(base_url, style, **request_)
    assert chat(base_url, style, streamed=True, **request_).without_ids() == whole.without_ids()
    assert whole.model == "gpt-4o-mini-2024-07-18"
    assert bool(whole.text) == ("tools" not in request_)
    assert [each.name for each in whole.calls] == (["weather"] if "tools" in request_ else [])


@pytest.mark.parametrize(
    ("request_", "error", "status", "code"),
    [
        ({"model": "nothing"}, openai.NotFoundError, 404, "DeploymentNotFound"),
        ({"key": "sk-invalid"}, openai.AuthenticationError, 401, "401"),
        ({"messages": []}, openai.BadRequestError, 400, "empty_array"),
        ({"headers": {"Sim-Status": "429"}}, openai.RateLimitError, 429, "429"),
        ({"headers": {"Sim-Status": "500"}}, openai.InternalServerError, 500, "500"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_error_raises_with_its_status_and_code(
    base_url: str,
    style: str,
    streamed: bool,
    request_: dict[str, Any],
    error: type[openai.APIStatusError],
    status: int,
    code: str,
) -> None:
    with pytest.raises(error) as raised:
        chat(base_url, style, streamed=streamed, **request_)
    assert (raised.value.status_code, raised.value.code) == (status, code)


@pytest.mark.parametrize("place", ["event:3", "event:3 rst", "event:3:5"])
def test_a_stream_that_breaks_raises(base_url: str, style: str, place: str) -> None:
    headers = {"Sim-Break": place, "Sim-Event-Interval-Ms": "2"}
    with pytest.raises(openai.APIConnectionError):
        chat(base_url, style, streamed=True, headers=headers)


def test_every_text_gets_a_vector(base_url: str, style: str) -> None:
    response = call(base_url, style, "embeddings", model="text-embedding-3-small", input=["tea", "coffee"])
    assert [len(each.embedding) for each in response.data] == [16, 16]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_record_has_what_the_sdk_reports(routed: World, request_: dict[str, Any], streamed: bool) -> None:
    namespace = unique()
    headers = {"Service-Namespace": namespace}
    answer = chat(url_of(routed), "sync", streamed=streamed, headers=headers, **request_)
    record = detail(routed, namespace)
    assert (record["kind"], record["route"], record["model"]) == ("chat", ROUTE, MODEL)
    assert record["path"] == f"/{ROUTE}/openai/deployments/{MODEL}/chat/completions"
    assert (record["failed"], record["stream_ended"]) == (False, "done" if streamed else None)
    assert record["user"] == request_.get("user")
    assert record["warnings"] == []
    assert_recorded(record, answer)
    assert (record["cost_usd"] is not None, record["cost_reason"]) == (True, None)


def test_a_key_and_a_token_are_masked_and_have_equal_fingerprints(routed: World) -> None:
    secret, logged = "azure-secret-1234567890", set()
    for given, header in (("key", "api-key"), ("token", "authorization")):
        namespace = unique()
        chat(url_of(routed), "sync", headers={"Service-Namespace": namespace}, **{given: secret})
        record = detail(routed, namespace)
        assert secret not in json.dumps(record)
        logged.add(dict(record["request_headers"])[header].removeprefix("Bearer "))
    (fingerprint,) = logged
    assert re.fullmatch("key:[0-9a-f]{12}", fingerprint)


def test_a_record_of_embeddings_has_the_deployment_and_the_tokens(routed: World) -> None:
    namespace, model = unique(), "text-embedding-3-small"
    headers = {"Service-Namespace": namespace}
    response = call(url_of(routed), "sync", "embeddings", headers=headers, model=model, input=["tea", "coffee"])
    record = detail(routed, namespace)
    assert (record["kind"], record["model"], record["failed"]) == ("embedding", model, False)
    assert record["input_tokens"] == response.usage.prompt_tokens
    assert record["output_preview"] == "2 vectors of 16 numbers"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_record_of_the_responses_api_has_what_the_sdk_reports(routed: World, streamed: bool) -> None:
    namespace = unique()
    headers = {"Service-Namespace": namespace}
    response = call(url_of(routed), "sync", "responses", headers=headers, input="Hello", stream=streamed)
    whole = response[-1].response if streamed else response
    record = detail(routed, namespace)
    assert (record["kind"], record["model"], record["failed"]) == ("response", MODEL, False)
    assert (record["completion_id"], record["input_tokens"]) == (whole.id, whole.usage.input_tokens)
    assert record["output_tokens"] == whole.usage.output_tokens


def test_a_missing_deployment_is_a_failed_request_with_its_code(routed: World) -> None:
    namespace = unique()
    with pytest.raises(openai.NotFoundError):
        chat(url_of(routed), "sync", headers={"Service-Namespace": namespace}, model="nothing")
    record = detail(routed, namespace)
    assert (record["model"], record["status"], record["failed"]) == ("nothing", 404, True)
    assert record["error_code"] == "DeploymentNotFound"


def url_of(world: World) -> str:
    return f"http://127.0.0.1:{world.server.port}/{ROUTE}"


def detail(world: World, namespace: str) -> dict[str, Any]:
    (row,) = world.recorded(namespace)
    return world.server.record(row["id"])
