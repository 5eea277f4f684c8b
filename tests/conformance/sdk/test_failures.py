"""A call fails in the same way with and without the relay: same exception, bytes and retries. Failures are recorded."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import openai
import pytest
from tests.conformance.sdk.calls import KEY, QUESTION, World, chat, in_loop, unique


def failure(call: Callable[[], Any]) -> openai.APIStatusError:
    with pytest.raises(openai.APIStatusError) as caught:
        call()
    return caught.value


def both(world: World, namespace: str, **parameters: Any) -> tuple[openai.APIStatusError, openai.APIStatusError]:
    """Make the same failing call through the relay and directly. Returns both errors."""
    key = parameters.pop("api_key", KEY)
    parameters = {"model": "gpt-4o-mini", "messages": QUESTION, **parameters}
    with world.client(namespace, api_key=key) as client, world.direct_client(api_key=key) as direct:
        relayed = failure(lambda: client.chat.completions.create(**parameters))
        return relayed, failure(lambda: direct.chat.completions.create(**parameters))


@pytest.mark.parametrize(
    ("parameters", "kind", "code"),
    [
        ({"api_key": "sk-invalid-1234567890"}, openai.AuthenticationError, "invalid_api_key"),
        ({"model": "no-such-model"}, openai.NotFoundError, "model_not_found"),
        ({"messages": []}, openai.BadRequestError, "empty_array"),
        ({"n": 1000}, openai.BadRequestError, "invalid_value"),
        ({"extra_headers": {"Sim-Status": "403"}}, openai.PermissionDeniedError, None),
        ({"extra_headers": {"Sim-Status": "429"}}, openai.RateLimitError, None),
        ({"extra_headers": {"Sim-Status": "500"}}, openai.InternalServerError, None),
        ({"extra_headers": {"Sim-Status": "503", "Sim-Body": "html"}}, openai.InternalServerError, None),
        ({"stream": True, "model": "no-such-model"}, openai.NotFoundError, "model_not_found"),
    ],
    ids=["key", "model", "empty", "n", "403", "429", "500", "html", "stream"],
)
def test_the_upstreams_own_error_is_forwarded_byte_for_byte(
    world: World, parameters: dict[str, Any], kind: type[openai.APIStatusError], code: str | None
) -> None:
    namespace = unique()
    relayed, direct = both(world, namespace, **parameters)
    assert type(relayed) is type(direct) is kind
    assert relayed.response.content == direct.response.content
    assert (relayed.status_code, relayed.code, relayed.message) == (direct.status_code, direct.code, direct.message)
    assert code in (None, relayed.code)
    assert relayed.response.headers["content-type"] == direct.response.headers["content-type"]
    assert relayed.response.headers.get("service-error") is None
    assert relayed.response.headers["service-namespace"] == namespace
    (record,) = world.recorded(namespace)
    assert record["id"] == relayed.response.headers["service-request-id"]
    assert (record["outcome"], record["failed"], record["status"]) == ("complete", True, relayed.status_code)
    assert record["error_code"] == (relayed.code or record["error_code"])
    assert record["provider_request_id"] == relayed.request_id
    assert world.server.body(record["id"], "response") == relayed.response.content


def test_the_async_client_gets_the_same_errors(world: World) -> None:
    async def call(client: openai.AsyncOpenAI) -> Any:
        with pytest.raises(openai.AuthenticationError) as caught:
            await client.chat.completions.create(model="gpt-4o-mini", messages=QUESTION)
        return caught.value

    error = in_loop(world.async_client(api_key="sk-invalid-1234567890"), call)
    assert error.code == "invalid_api_key"
    assert world.server.record(error.response.headers["service-request-id"])["status"] == 401


def test_a_rate_limit_is_retried_when_the_upstream_says_and_every_attempt_has_a_record(world: World) -> None:
    namespace = unique()
    directives = {"Sim-Status": "429", "Sim-Header": "retry-after: 1"}
    with world.client(namespace, max_retries=1) as client:
        error = failure(
            lambda: client.chat.completions.create(model="gpt-4o-mini", messages=QUESTION, extra_headers=directives)
        )
    assert isinstance(error, openai.RateLimitError)
    first, second = world.recorded(namespace, 2)
    assert [first["retry_count"], second["retry_count"]] == [0, 1]
    waited = datetime.fromisoformat(second["started_at"]) - datetime.fromisoformat(first["ended_at"])
    # By default the SDK waits at most half a second before its first retry.
    assert waited.total_seconds() >= 0.9


@pytest.mark.parametrize("status", [400, 408, 409, 429, 500, 503])
def test_there_are_as_many_attempts_as_without_a_relay(world: World, status: int) -> None:
    tags = [unique("tag"), unique("tag")]
    directives = {"Sim-Status": str(status), "Sim-Header": "retry-after-ms: 5"}
    with world.client(max_retries=2) as client, world.direct_client(max_retries=2) as direct:
        for each, tag in zip((client, direct), tags, strict=True):
            with pytest.raises(openai.APIStatusError):
                each.chat.completions.create(
                    model="gpt-4o-mini", messages=QUESTION, extra_headers={**directives, "Sim-Tag": tag}
                )
    relayed, unrelayed = (world.requests(tag) for tag in tags)
    assert len(relayed) == len(unrelayed) == (1 if status == 400 else 3)


@pytest.mark.parametrize(
    "position", ["event:3", "event:3 rst", "event:3:1", "event:3:5", "event:3:60", "event:0:3", "event:3:60 rst"]
)
def test_a_broken_stream_is_never_a_short_response(world: World, style: str, position: str) -> None:
    namespace = unique()
    with pytest.raises(openai.APIConnectionError):
        chat(world, style, namespace, stream=True, extra_headers={"Sim-Break": position, "Sim-Event-Interval-Ms": "2"})
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["failed"], record["stream_ended"]) == ("upstream_failed", True, "cut")
    assert record["error_code"] == "upstream_stream_interrupted"


def test_an_error_event_of_the_upstream_raises_as_without_a_relay(world: World, style: str) -> None:
    namespace = unique()
    directives = {"Sim-Error-Event": "3"}
    with pytest.raises(openai.APIError) as caught:
        chat(world, style, namespace, stream=True, extra_headers=directives)
    with world.direct_client() as client, pytest.raises(openai.APIError) as direct:
        list(
            client.chat.completions.create(
                model="gpt-4o-mini", messages=QUESTION, stream=True, extra_headers=directives
            )
        )
    assert (caught.value.message, caught.value.code) == (direct.value.message, direct.value.code)
    (record,) = world.recorded(namespace)
    # The SDK disconnects at the event. The relay may or may not have forwarded the end of the stream before that.
    assert (record["outcome"] in {"complete", "client_closed"}, record["failed"]) == (True, True)
    assert (record["error_code"], record["error_message"]) == (direct.value.code, direct.value.message)


def test_an_error_event_that_is_read_to_its_end_is_complete_and_failed(world: World) -> None:
    namespace = unique()
    with (
        world.client(namespace) as client,
        client.chat.completions.with_streaming_response.create(
            model="gpt-4o-mini", messages=QUESTION, stream=True, extra_headers={"Sim-Error-Event": "3"}
        ) as response,
    ):
        response.read()
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["failed"]) == ("complete", True)


@pytest.mark.parametrize("directives", ["head", "head rst"])
def test_an_error_response_of_the_relay_raises_the_sdks_error_and_names_its_record(
    world: World, directives: str
) -> None:
    with world.client() as client:
        error = failure(
            lambda: client.chat.completions.create(
                model="gpt-4o-mini", messages=QUESTION, extra_headers={"Sim-Break": directives}
            )
        )
    assert (error.status_code, error.code, error.type) == (502, "upstream_reset", "relay_error")
    assert error.request_id == error.response.headers["service-request-id"]
    assert error.response.headers["service-error"] == "upstream_reset"
    record = world.server.record(error.request_id or "")
    assert (record["outcome"], record["error_message"]) == (
        "upstream_failed",
        json.loads(error.response.text)["error"]["message"],
    )


def test_an_incomplete_plain_response_raises(world: World, style: str) -> None:
    namespace = unique()
    with pytest.raises(openai.APIConnectionError):
        chat(world, style, namespace, extra_headers={"Sim-Break": "byte:100"})
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["failed"], record["response_bytes"]) == ("upstream_failed", True, 100)


def test_a_client_that_abandons_a_stream_is_recorded_as_such(world: World) -> None:
    namespace = unique()
    with (
        world.client(namespace) as client,
        client.chat.completions.create(
            model="gpt-4o-mini", messages=QUESTION, stream=True, extra_headers={"Sim-Event-Interval-Ms": "200"}
        ) as stream,
    ):
        next(stream)
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["failed"], record["stream_ended"]) == ("client_closed", False, "cut")
    assert record["response_bytes"] > 0
