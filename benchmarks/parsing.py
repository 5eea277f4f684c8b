"""Measure the cost of parsing bodies in the recorder, in µs per complete exchange and per streamed chunk.

The benchmark uses one process, without garbage collection during a run. Each metric is the median of 15 runs of 2,000
exchanges (or 40 streams of 500 chunks). Bodies have the same size and fields as OpenAI's bodies in 2026: a request of
500 bytes, a response of 800 bytes, and chunks of 330 bytes. Run ``python benchmarks/parsing.py``.
"""

import gc
import platform
import statistics
import time
from collections.abc import Callable

import msgspec

from relaybook.apis import match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import Prices

RUNS = 15

REQUEST = msgspec.json.encode(
    {
        "model": "gpt-4.1",
        "messages": [
            {"role": "system", "content": "You are a travel assistant. Answer briefly and name your sources. " * 2},
            {"role": "user", "content": "Plan a weekend in Rome for two people who like food and old churches. " * 2},
        ],
        "temperature": 0.7,
        "max_completion_tokens": 400,
        "user": "user-4711",
        "metadata": {"feature": "trips"},
    }
)
ANSWER = msgspec.json.encode(
    {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1741569952,
        "model": "gpt-4.1-2025-04-14",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Start early. " * 14, "refusal": None, "annotations": []},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 119,
            "completion_tokens": 60,
            "total_tokens": 179,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": "fp_b376dfbbd5",
    }
)
CHUNK = (
    b'data: {"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,'
    b'"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_b376dfbbd5","choices":[{"index":0,'
    b'"delta":{"content":" early"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"abcdef"}\n\n'
)
CHUNKS = 500
STREAM = CHUNK * CHUNKS + b"data: [DONE]\n\n"
AT_US = 1_795_000_000_000_000


def microseconds(work: Callable[[], object], times: int) -> float:
    """Return the duration of one call in microseconds, as the median of the runs."""
    work()
    taken = []
    gc.collect()
    gc.disable()
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(times):
            work()
        taken.append((time.perf_counter() - start) / times * 1e6)
    gc.enable()
    return statistics.median(taken)


def main() -> None:
    """Print one line per metric."""
    prices = Prices()
    api = match("POST", "/v1/chat/completions")
    answer = read_response(ANSWER, "chat", is_event_stream=False, complete=True).response

    def exchange() -> None:
        read_request(REQUEST, api)
        read_response(ANSWER, "chat", is_event_stream=False, complete=True)

    def stream() -> None:
        read_response(STREAM, "chat", is_event_stream=True, complete=True)

    def cost() -> object:
        usage = answer.usage or {}
        counts = counts_of(usage, "chat", answer.model)
        return prices.cost("https://api.openai.com/v1", "gpt-4.1", answer.model, usage, counts, answer.tier, AT_US)

    asked = microseconds(lambda: read_request(REQUEST, api), 2000)
    print(f"Python {platform.python_version()}, {platform.machine()}, msgspec {msgspec.__version__}")
    print(f"request, {len(REQUEST)} bytes          {asked:6.2f} µs")
    print(f"request and answer, +{len(ANSWER)} bytes {microseconds(exchange, 2000):6.2f} µs")
    print(f"streamed, per {len(CHUNK)}-byte chunk   {microseconds(stream, 40) / CHUNKS:6.2f} µs")
    print(f"cost, rates known             {microseconds(cost, 2000):6.2f} µs")


if __name__ == "__main__":
    main()
