"""Every call is logged once, in its namespace, and can be found by any id in its response."""

import asyncio
from typing import Any
from urllib.parse import quote

import openai
import pytest
from tests.conformance.sdk.calls import QUESTION, World, chat, unique
from tests.support.server import wait_until

CALLS = 200


def test_without_the_header_a_call_is_in_the_default_namespace(world: World, style: str) -> None:
    completion = chat(world, style)
    assert completion.headers["service-namespace"] == "default"
    assert world.server.record(completion.request_id)["namespace"] == "default"
    assert completion.request_id in {row["id"] for row in world.server.records("namespace=default")}


def test_a_namespace_lists_exactly_its_own_calls(world: World, style: str) -> None:
    ours, other = unique(), unique()
    ids = {chat(world, style, ours).request_id for _ in range(3)}
    for namespace in (other, ours.upper(), f"{ours}x", None):
        chat(world, style, namespace)
    assert {row["id"] for row in world.recorded(ours, 3)} == ids


def test_properties_by_header_are_recorded_and_found(world: World) -> None:
    run = unique("run")
    completion = chat(world, "sync", extra_headers={"Service-Property-Run_Id": run, "Service-Property-Step": "2"})
    record = world.server.record(completion.request_id)
    assert record["properties"] == {"run-id": run, "step": "2"}
    assert [row["id"] for row in world.server.records(f"property.run-id={run}")] == [completion.request_id]


@pytest.mark.parametrize(
    ("sent", "namespace"),
    [
        (quote("Größe/東京 🙂"), "Größe/東京 🙂"),
        ("jane.doe+test@example.com", "jane.doe+test@example.com"),
        ("tenant/42:eu west", "tenant/42:eu west"),
        ("50%off", "50%off"),
        ("%20spaces%20around%20", "spaces around"),
    ],
    ids=["unicode", "e-mail", "path", "percent", "spaces"],
)
def test_any_text_can_be_a_namespace(world: World, style: str, sent: str, namespace: str) -> None:
    completion = chat(world, style, sent)
    assert "service-warning" not in completion.headers
    assert world.server.record(completion.request_id)["namespace"] == namespace
    found = wait_until(lambda: world.server.records(f"namespace={quote(namespace, safe='')}"))
    assert completion.request_id in {row["id"] for row in found}


def test_a_namespace_of_300_characters_is_truncated_with_a_warning(world: World, style: str) -> None:
    sent = unique() + "n" * 300
    completion = chat(world, style, sent)
    assert completion.headers["service-warning"].startswith("namespace_cut; ")
    record = world.server.record(completion.request_id)
    assert len(record["namespace"]) == 256
    assert record["namespace"].startswith(sent[:239] + "~")
    assert [warning["code"] for warning in record["warnings"]] == ["namespace_cut"]
    assert [row["id"] for row in world.recorded(record["namespace"])] == [completion.request_id]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_any_id_of_a_response_finds_its_record(world: World, style: str, streamed: bool) -> None:
    client_id = unique("client")
    completion = chat(world, style, stream=streamed, extra_headers={"X-Client-Request-Id": client_id})
    world.server.record(completion.request_id)
    for any_id in (completion.request_id, completion.headers["x-request-id"], completion.completion_id, client_id):
        found = world.server.get(f"/api/requests/{any_id}")
        assert (found["id"], found["also"]) == (completion.request_id, []), any_id


@pytest.mark.parametrize("directives", [{"Sim-Status": "429"}, {"Sim-Break": "head"}], ids=["the provider's", "ours"])
def test_any_id_of_an_error_finds_its_record(world: World, directives: dict[str, str]) -> None:
    with world.client() as client, pytest.raises(openai.APIStatusError) as caught:
        client.chat.completions.create(model="gpt-4o-mini", messages=QUESTION, extra_headers=directives)
    ours = caught.value.response.headers["service-request-id"]
    assert world.server.record(ours)["id"] == ours
    assert world.server.get(f"/api/requests/{caught.value.request_id}")["id"] == ours


def test_an_unknown_id_finds_nothing(world: World) -> None:
    assert world.server.get("/api/requests/chatcmpl-none")["error"]["code"] == "not_found"


def test_200_concurrent_calls_are_recorded_once_each(world: World) -> None:
    namespace = unique("burst")

    async def call(client: openai.AsyncOpenAI, number: int) -> tuple[str, str]:
        parameters: dict[str, Any] = {
            "model": "gpt-4o-mini",
            "messages": [{"role": "user", "content": f"Call number {number}."}],
            "stream": number % 2 == 1,
        }
        raw = await client.chat.completions.with_raw_response.create(**parameters)
        response: Any = raw.parse()
        if number % 2:
            chunks = [chunk.choices[0].delta.content or "" async for chunk in response if chunk.choices]
            return raw.headers["service-request-id"], "".join(chunks)
        return raw.headers["service-request-id"], response.choices[0].message.content

    async def main() -> list[tuple[str, str]]:
        async with world.async_client(namespace, timeout=60) as client:
            return await asyncio.gather(*[call(client, number) for number in range(CALLS)])

    completion = asyncio.run(main())
    records = {row["id"]: row for row in world.recorded(namespace, CALLS)}
    assert len(records) == CALLS
    assert {request_id for request_id, _ in completion} == set(records)
    for number, (request_id, text) in enumerate(completion):
        record = records[request_id]
        assert record["input_preview"] == f"Call number {number}."
        assert record["output_preview"] == text[:200]
        assert (record["outcome"], record["stream"]) == ("complete", number % 2 == 1)
    assert len({row["seq"] for row in records.values()}) == CALLS
    counted = world.server.get(f"/api/namespaces?prefix={namespace}")["data"]
    assert [(item["namespace"], item["requests"], item["failed"]) for item in counted] == [(namespace, CALLS, 0)]
