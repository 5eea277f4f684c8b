"""A stream that breaks raises the same exception through the relay as without it, for each API with streams."""

import base64
from typing import Any, Final

import anthropic
import httpx2
import openai
import pytest
from tests.conformance.sdk.calls import KEY, QUESTION, World

#: The events of a stream of each API.
EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "chat": (
        'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
        '"choices":[{"index":0,"delta":{"content":"Hé"}}]}',
        'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
        '"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        "data: [DONE]",
    ),
    "completion": (
        'data: {"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"Hé"}]}',
        'data: {"id":"c","object":"text_completion","created":1,"model":"m",'
        '"choices":[{"index":0,"text":"","finish_reason":"stop"}]}',
        "data: [DONE]",
    ),
    "response": (
        'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":1,'
        '"item_id":"i","output_index":0,"content_index":0,"delta":"Hé","logprobs":[]}',
        'event: response.output_text.done\ndata: {"type":"response.output_text.done","sequence_number":2,'
        '"item_id":"i","output_index":0,"content_index":0,"text":"Hé","logprobs":[]}',
    ),
    "message": (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",'
        '"model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        '"content_block":{"type":"text","text":""}}',
        'event: message_stop\ndata: {"type":"message_stop"}',
    ),
}


def cut_response(api: str, framing: str, place: str) -> str:
    """Return a response that ends at a place, as the value of the header ``Sim-Raw``."""
    events = [f"{event}\n\n".encode() for event in EVENTS[api]]
    parts = [b"%x\r\n%b\r\n" % (len(event), event) for event in events] if framing == "chunked" else events
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
    head += {"chunked": b"Transfer-Encoding: chunked\r\n", "close": b""}.get(
        framing, b"Content-Length: %d\r\n" % (sum(map(len, events)) + 1)
    )
    sent = {
        "after the head": b"",
        "within the first event": parts[0][:-9],
        "between events": parts[0],
        "after the end mark": b"".join(parts),
    }[place]
    return base64.b64encode(head + b"\r\n" + sent).decode()


def read_stream(world: World, api: str, headers: dict[str, str], *, relayed: bool) -> tuple[int, str]:
    """Read a stream with the official SDK. Return the number of events and the exception, or ``end``."""
    base_url = world.server.base_url if relayed else world.provider.url
    count = 0
    try:
        stream: Any
        if api == "message":
            with anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=KEY, max_retries=0) as messages:
                stream = messages.messages.create(
                    model="m", max_tokens=9, messages=QUESTION, stream=True, extra_headers=headers
                )
                for _ in stream:
                    count += 1
            return count, "end"
        with openai.OpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
            if api == "chat":
                stream = client.chat.completions.create(
                    model="m", messages=QUESTION, stream=True, extra_headers=headers
                )
            elif api == "completion":
                stream = client.completions.create(model="m", prompt="Hi", stream=True, extra_headers=headers)
            else:
                stream = client.responses.create(model="m", input="Hi", stream=True, extra_headers=headers)
            for _ in stream:
                count += 1
            return count, "end"
    except (openai.APIError, anthropic.APIError, httpx2.HTTPError) as error:
        return count, type(error).__qualname__


@pytest.mark.parametrize("place", ["after the head", "within the first event", "between events", "after the end mark"])
@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("api", EVENTS)
def test_a_cut_stream_raises_the_same_exception_as_without_the_relay(
    world: World, api: str, framing: str, place: str
) -> None:
    headers = {"Sim-Raw": cut_response(api, framing, place), "Sim-After": "close"}
    direct = read_stream(world, api, headers, relayed=False)
    assert read_stream(world, api, headers, relayed=True) == direct
    # without a length or chunks, the end of the connection is the end of the stream
    is_end = framing == "close" or (api in ("chat", "completion") and place == "after the end mark")
    assert (direct[1] == "end") == is_end


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("api", EVENTS)
def test_a_reset_stream_raises_the_same_exception_as_without_the_relay(world: World, api: str, framing: str) -> None:
    """The reset follows the head, because a reset can discard events that a client has not read."""
    headers = {"Sim-Raw": cut_response(api, framing, "after the head"), "Sim-After": "rst"}
    direct = read_stream(world, api, headers, relayed=False)
    assert direct[1] in ("APIConnectionError", "ReadError")
    assert read_stream(world, api, headers, relayed=True) == direct
