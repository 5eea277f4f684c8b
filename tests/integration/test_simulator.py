"""The simulated upstream works with the official client and follows the rules of HTTP."""

import base64
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.integration.simulator_wire import MESSAGES, Wire, body_of, close, read_to_end, with_simulator

from relaybook_demo.simulator import SimulatorSettings

TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
]


@contextlib.asynccontextmanager
async def sdk(wire: Wire, key: str = "sk-test") -> AsyncIterator[openai.AsyncOpenAI]:
    client = openai.AsyncOpenAI(api_key=key, base_url=f"http://127.0.0.1:{wire.port}/v1", max_retries=0)
    async with client:
        yield client


def test_the_sdk_reads_a_plain_response() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire) as client:
            response = await client.chat.completions.create(model="gpt-4o", messages=MESSAGES, n=3)
        assert [choice.finish_reason for choice in response.choices] == ["stop"] * 3
        assert "refund" in (response.choices[0].message.content or "")
        assert len({choice.message.content for choice in response.choices}) == 3
        assert response.model == "gpt-4o-2024-08-06"
        assert response.usage is not None
        assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.completion_tokens

    with_simulator(test)


def test_the_sdk_joins_a_stream_to_the_same_response() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire) as client:
            complete = await client.chat.completions.create(model="o3", messages=MESSAGES)
            chunks = [
                chunk
                async for chunk in await client.chat.completions.create(
                    model="o3", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
                )
            ]
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        assert "".join(delta.content or "" for delta in deltas) == complete.choices[0].message.content
        assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas).startswith("The user")
        assert chunks[-1].choices == []
        assert chunks[-1].usage == complete.usage

    with_simulator(test)


def test_the_sdk_gets_tool_calls_and_then_a_response() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire) as client:
            asked: Any = await client.chat.completions.create(model="gpt-4o", messages=MESSAGES, tools=TOOLS)
            call = asked.choices[0].message.tool_calls[0]
            assert asked.choices[0].finish_reason == "tool_calls"
            assert json.loads(call.function.arguments) == {"city": "Can I get a refund?", "days": 1}
            async with client.chat.completions.stream(model="gpt-4o", messages=MESSAGES, tools=TOOLS) as events:
                streamed: Any = await events.get_final_completion()
            assert streamed.choices[0].message.tool_calls[0].function.arguments == call.function.arguments
            entries: Any = [
                *MESSAGES,
                asked.choices[0].message,
                {"role": "tool", "tool_call_id": call.id, "content": "7"},
            ]
            responded = await client.chat.completions.create(model="gpt-4o", messages=entries, tools=TOOLS)
            assert responded.choices[0].message.content == "Here is what I found: 7"

    with_simulator(test)


def test_the_sdk_raises_the_providers_errors() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire, key="sk-invalid-1234567890") as client:
            with pytest.raises(openai.AuthenticationError) as refused:
                await client.models.list()
        assert refused.value.code == "invalid_api_key"
        assert "1234567890" not in str(refused.value)
        async with sdk(wire) as client:
            with pytest.raises(openai.NotFoundError) as missing:
                await client.chat.completions.create(model="llama", messages=MESSAGES)
            assert missing.value.code == "model_not_found"
            assert missing.value.request_id is not None
            directives = {"Sim-Status": "429", "Sim-Header": "retry-after-ms: 40 | x-should-retry: false"}
            with pytest.raises(openai.RateLimitError) as limited:
                await client.chat.completions.create(model="gpt-4o", messages=MESSAGES, extra_headers=directives)
            assert limited.value.response.headers["retry-after-ms"] == "40"
            directives = {"Sim-Error-Event": "2"}
            response = await client.chat.completions.create(
                model="gpt-4o", messages=MESSAGES, stream=True, extra_headers=directives
            )
            with pytest.raises(openai.APIError, match="error while processing"):
                _ = [chunk async for chunk in response]

    with_simulator(test)


def test_the_sdk_uses_models_embeddings_and_responses() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire) as client:
            assert "gpt-4o" in [model.id async for model in client.models.list()]
            assert (await client.models.retrieve("sim-org/model")).id == "sim-org/model"
            numbers = await client.embeddings.create(model="text-embedding-3-small", input="a", encoding_format="float")
            encoded = await client.embeddings.create(model="text-embedding-3-small", input=["a", "b"])
            assert encoded.data[0].embedding == numbers.data[0].embedding
            assert encoded.data[1].embedding != numbers.data[0].embedding
            complete = await client.responses.create(model="gpt-4o", input="Write a haiku")
            events = [
                event
                async for event in await client.responses.create(model="gpt-4o", input="Write a haiku", stream=True)
            ]
        assert events[-1].type == "response.completed"
        assert events[-1].response.output_text == complete.output_text
        assert (
            "".join(event.delta for event in events if event.type == "response.output_text.delta")
            == complete.output_text
        )

    with_simulator(test)


def test_100_continue_is_sent_and_chunked_bodies_are_read() -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(
            b"POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: x/y\r\nExpect: 100-continue\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"content-type: x/y\r\n" in head
        assert await reader.readexactly(5) == b"abcde"
        writer.write(b"HEAD /v1/echo HTTP/1.1\r\nHost: x\r\n\r\nOPTIONS /v1/echo HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"content-length: 0" in await reader.readuntil(b"\r\n\r\n")
        preflight = await reader.readuntil(b"\r\n\r\n")
        assert preflight.startswith(b"HTTP/1.1 204 No Content")
        assert b"content-" not in preflight
        await close(writer)

    with_simulator(test)


def test_the_ledger_contains_what_was_received_and_sent(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"

    async def test(wire: Wire) -> None:
        received, _ = await wire.post_and_read("Sim-Tag: t1", "X-Odd:  a b ", "Sim-After: close", stream=True)
        await wire.wait_for("sent")
        entries = [json.loads(line) for line in file.read_bytes().splitlines()]
        assert [entry["event"] for entry in entries] == ["first_byte", "request", "sent"]
        asked, sent = entries[1], entries[2]
        assert ["X-Odd", "a b"] in asked["headers"]
        assert json.loads(base64.b64decode(asked["body"]))["messages"] == MESSAGES
        assert sent["sent_sha256"] == hashlib.sha256(body_of(received)).hexdigest()
        assert (sent["outcome"], sent["tag"]) == ("sent", "t1")

    with_simulator(test, SimulatorSettings(ledger_file=file))


def test_a_malformed_request_is_rejected_and_its_connection_closed() -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(b"NONSENSE\r\n\r\n")
        received, ending = await read_to_end(reader)
        assert (received[:12], ending) == (b"HTTP/1.1 400", "fin")
        await close(writer)

    with_simulator(test)


def test_timestamped_events_keep_their_interval() -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.post_and_read(
            "Sim-Timestamps: 1", "Sim-Event-Interval-Ms: 5", "Sim-Answer-Tokens: 4", "Sim-After: close", stream=True
        )
        chunks = [json.loads(block[6:]) for block in body_of(received).split(b"\n\n") if block.startswith(b"data: {")]
        timestamps = [chunk["sent_at_ns"] for chunk in chunks]
        assert len(timestamps) == 6
        assert timestamps == sorted(timestamps)
        assert timestamps[-1] - timestamps[0] >= 5 * 4_000_000

    with_simulator(test)


def test_the_program_prints_its_address_and_stops_on_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "relaybook_demo.simulator", "--ledger", str(tmp_path / "l.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "0"}) as program:
        assert program.stdout is not None
        line = program.stdout.readline().decode()
        assert line.startswith("simulated upstream on http://127.0.0.1:")
        client = openai.OpenAI(api_key="sk-test", base_url=line.split()[-1])
        assert client.models.retrieve("gpt-4o").id == "gpt-4o"
        client.close()
        program.send_signal(signal.SIGTERM)
        assert program.wait(10) == 0
    assert b'"outcome":"sent"' in (tmp_path / "l.jsonl").read_bytes()


def test_the_sdk_reads_images_speech_and_transcriptions() -> None:
    async def test(wire: Wire) -> None:
        async with sdk(wire) as client:
            images = await client.images.generate(model="gpt-image-1", prompt="a cup of tea", n=2)
            speech = await client.audio.speech.create(model="tts-1", voice="alloy", input="Hello to all")
            audio = speech.content
            text = await client.audio.transcriptions.create(model="whisper-1", file=("speech.wav", audio))
        pictures = [base64.b64decode(image.b64_json or "") for image in images.data or ()]
        assert [picture[:8] for picture in pictures] == [b"\x89PNG\r\n\x1a\n"] * 2
        assert images.usage is not None
        assert audio.startswith(b"RIFF")
        assert text.text

    with_simulator(test)
