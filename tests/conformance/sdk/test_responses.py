"""The SDK returns every kind of response as it does without a relay, and the record matches the response."""

import json
from typing import Any, Final

import pytest
from tests.conformance.sdk.calls import KEY, QUESTION, TOOLS, World, assert_matches, body_of, chat, in_loop, unique
from tests.support.parts import text_of

#: Each test runs on the default route, and on the route of the preset ``openai``.
pytestmark = pytest.mark.parametrize("world", ["", "openai"], ids=["default route", "preset"], indirect=True)

USAGE: Final[dict[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"model": "gpt-4o", "temperature": 0.3, "max_tokens": 12, "user": "user-42", "seed": 7},
        {"n": 3},
        {"model": "o3"},
        {"tools": TOOLS, "messages": [{"role": "user", "content": "The weather in Zürich and the news"}]},
        {"messages": [{"role": "system", "content": "Answer in haiku."}, *QUESTION, *QUESTION]},
        {"messages": [{"role": "user", "content": "Größe 東京 🙂 \u2028 \x00 end"}]},
        {"messages": [{"role": "user", "content": "word " * 20_000}]},
    ],
    ids=["plain", "parameters", "n=3", "reasoning", "tools", "conversation", "unicode", "long"],
)
def test_the_record_matches_what_the_sdk_returned(
    world: World, style: str, streamed: bool, parameters: dict[str, Any]
) -> None:
    namespace = unique()
    completion = chat(world, style, namespace, **parameters, **(USAGE if streamed else {}))
    (row,) = world.recorded(namespace)
    record = world.server.record(completion.request_id)
    assert (record["id"], record["namespace"]) == (row["id"], namespace)
    assert record["route"] == (world.route or "default")
    assert_matches(record, completion)
    assert len(completion.choices) == parameters.get("n", 1)
    assert record["user"] == parameters.get("user")
    sent = json.loads(completion.sent)
    assert {name: sent[name] for name in sent if name != "messages"} == record["parameters"]
    assert [text_of(message) for message in record["messages"]] == [message["content"] for message in sent["messages"]]
    assert record["stream"] is streamed
    assert record["stream_ended"] == ("done" if streamed else None)
    assert (record["first_token_ms"] is not None) == streamed


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_relayed_response_is_the_upstreams_own(world: World, style: str, streamed: bool) -> None:
    completion = chat(world, style, **(USAGE if streamed else {}))
    with world.direct_client() as client:
        direct = client.chat.completions.create(model="gpt-4o-mini", messages=QUESTION)
    assert completion.choices[0].text == direct.choices[0].message.content
    assert completion.model == direct.model
    assert completion.usage == direct.usage


def test_previews_show_the_last_message_and_the_beginning_of_the_response(world: World, style: str) -> None:
    completion = chat(world, style, messages=[{"role": "user", "content": "Refund? " * 100}], **USAGE)
    record = world.server.record(completion.request_id)
    assert record["input_preview"].startswith("Refund? Refund?")
    assert len(record["input_preview"]) <= 200
    assert record["output_preview"] == completion.choices[0].text[:200]


def test_a_stream_is_recorded_with_its_timing(world: World, style: str) -> None:
    directives = {"Sim-First-Token-Ms": "60", "Sim-Event-Interval-Ms": "5"}
    completion = chat(world, style, extra_headers=directives, **USAGE)
    record = world.server.record(completion.request_id)
    assert 60 <= record["first_token_ms"] < record["duration_ms"]
    assert 2 < record["chunks"] <= completion.chunks + 2
    assert len(record["timeline"]) == record["chunks"]
    assert sum(size for _, size in record["timeline"]) == record["response_bytes"]


def test_a_stream_without_usage_is_recorded_with_an_estimate_marked_as_such(world: World, style: str) -> None:
    completion = chat(world, style, stream=True)
    assert completion.usage is None
    record = world.server.record(completion.request_id)
    assert_matches(record, completion)
    assert record["tokens_estimated"] is True
    assert record["input_tokens"] > 0
    assert record["output_tokens"] > 0


def test_unknown_parameters_are_forwarded_byte_for_byte(world: World, style: str) -> None:
    tag = unique("tag")
    extra = {"future": {"deeply": [1, 2.50, 1e300, None, {"ünï": "\u2028"}]}, "provider": {"only": ["x"]}, "top_k": 5}
    completion = chat(
        world, style, extra_body={**extra, "temperature": 1.2345678901234567}, extra_headers={"Sim-Tag": tag}
    )
    (forwarded,) = world.requests(tag)
    assert body_of(forwarded) == completion.sent
    assert world.server.record(completion.request_id)["model"] == "gpt-4o-mini"
    assert world.server.body(completion.request_id, "request") == completion.sent


def test_metadata_becomes_properties(world: World, style: str) -> None:
    completion = chat(world, style, metadata={"user_id": "42", "Tier": "gold"}, store=True)
    assert world.server.record(completion.request_id)["properties"] == {"user-id": "42", "tier": "gold"}


def test_embeddings_are_relayed_and_recorded(world: World, style: str) -> None:
    namespace = unique()
    parameters: dict[str, Any] = {"model": "text-embedding-3-small", "input": ["refund", "weather"]}
    if style == "sync":
        with world.client(namespace) as client:
            found = client.embeddings.create(**parameters)
    else:
        found = in_loop(world.async_client(namespace), lambda client: client.embeddings.create(**parameters))
    with world.direct_client() as client:
        direct = client.embeddings.create(**parameters)
    assert [item.embedding for item in found.data] == [item.embedding for item in direct.data]
    (record,) = world.recorded(namespace)
    assert (record["kind"], record["path"], record["status"]) == ("embedding", f"{world.mount}/v1/embeddings", 200)
    assert (record["model"], record["input_tokens"]) == (parameters["model"], found.usage.prompt_tokens)
    assert record["cost_usd"] is not None


def test_the_list_of_models_is_relayed_and_recorded(world: World, style: str) -> None:
    namespace = unique()

    async def list_models(client: Any) -> list[str]:
        return [model.id async for model in client.models.list()]

    if style == "sync":
        with world.client(namespace) as client:
            found = [model.id for model in client.models.list()]
    else:
        found = in_loop(world.async_client(namespace), list_models)
    with world.direct_client() as client:
        assert found == [model.id for model in client.models.list()]
    (record,) = world.recorded(namespace)
    assert (record["kind"], record["method"], record["path"]) == ("models", "GET", f"{world.mount}/v1/models")


def test_the_responses_api_is_relayed_and_recorded(world: World) -> None:
    namespace = unique()
    with world.client(namespace) as client:
        found = client.responses.create(model="gpt-4o-mini", input="Can I get a refund?")
    (record,) = world.recorded(namespace)
    detail = world.server.record(record["id"])
    assert (record["kind"], record["model"]) == ("response", "gpt-4o-mini")
    assert text_of(detail["response"]["outputs"][0]) == found.output_text
    assert found.usage is not None
    assert (record["input_tokens"], record["output_tokens"]) == (found.usage.input_tokens, found.usage.output_tokens)


def test_the_upstreams_headers_are_forwarded_and_the_relays_are_added(world: World, style: str) -> None:
    directives = {"Sim-Headers": "openai"}
    completion = chat(world, style, extra_headers=directives)
    with world.direct_client() as client:
        direct = client.chat.completions.with_raw_response.create(
            model="gpt-4o-mini", messages=QUESTION, extra_headers=directives
        ).headers
    changing = {"date", "x-request-id", "set-cookie", "cf-ray", "content-length", "openai-processing-ms"}
    changing.add("x-envoy-upstream-service-time")
    added = {"service-request-id", "service-namespace", "service-route"}
    assert set(completion.headers) - set(direct) == added
    assert set(direct) - set(completion.headers) == {"connection"}
    compared = set(direct) - {"connection"} - changing
    assert {name: completion.headers[name] for name in compared} == {name: direct[name] for name in compared}


def test_the_key_reaches_the_upstream_and_the_log_has_its_fingerprint(world: World) -> None:
    tag = unique("tag")
    completion = chat(world, "sync", extra_headers={"Sim-Tag": tag})
    (forwarded,) = world.requests(tag)
    headers = {name.lower(): value for name, value in forwarded["headers"]}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name in headers if name.startswith("service-")]
    record = world.server.record(completion.request_id)
    assert len(record["key"]) == 12
    assert KEY not in json.dumps(record)
