"""Build records, entries and batches. By default they describe a typical request with a new id."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from relaybook import clock, ids
from relaybook.log.record import Detail, ExchangeFacts, Record
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Batch

#: 2026-11-21 14:02:31 UTC, in microseconds.
A_TIMESTAMP: Final = 1_795_269_751_000_000
REQUEST: Final = (
    b'{"model": "gpt-4o-mini", "messages": [{"role": "system", "content": "You are a helpful assistant who answers '
    b'in short, plain sentences."}, {"role": "user", "content": "Explain in two sentences why transistors replaced '
    b'vacuum tubes in computers, and name the year in which a machine was first built of them, please."}], '
    b'"temperature": 0.7, "top_p": 1, "max_tokens": 256, "stream": false, "user": "user-1234", "metadata": '
    b'{"channel": "ios", "build": "4411"}}'
)
RESPONSE: Final = (
    b'{"id": "chatcmpl-%s", "object": "chat.completion", "created": 1795269751, "model": "gpt-4o-mini-2024-07-18", '
    b'"choices": [{"index": 0, "message": {"role": "assistant", "content": "Transistors are smaller, cheaper and far '
    b"more reliable than vacuum tubes, and they need much less power. The first computer built of them ran in "
    b'Manchester in 1953.", "refusal": null, "annotations": []}, "logprobs": null, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 48, "completion_tokens": 37, "total_tokens": 85, "prompt_tokens_details": '
    b'{"cached_tokens": 0, "audio_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0, '
    b'"accepted_prediction_tokens": 0}}, "service_tier": "default", "system_fingerprint": "fp_44709d6fcb"}'
)


def new_record_id() -> str:
    return ids.id_text(ids.new_id())


def a_record(**fields: Any) -> Record:
    """Return the record of a complete chat request. ``fields`` replace its defaults."""
    defaults: dict[str, Any] = {
        "id": new_record_id(),
        "started_at": A_TIMESTAMP,
        "ended_at": A_TIMESTAMP + 812_000,
        "outcome": "complete",
        "namespace": "production",
        "upstream": "https://api.openai.com/v1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "kind": "chat",
        "client_address": "127.0.0.1",
        "key": "3fa9c2d1e0b4",
        "model": "gpt-4o-mini",
        "status": 200,
        "duration_ms": 812.5,
        "input_tokens": 48,
        "output_tokens": 37,
        "finish_reason": "stop",
    }
    return Record(**{**defaults, **fields})


def an_entry(
    request: bytes | Body | None = b"question",
    response: bytes | Body | None = b"answer",
    detail: Detail | None = None,
    **fields: Any,
) -> Entry:
    """Return an entry for ``a_record(**fields)``. Bodies given as bytes have one chunk."""
    return Entry(
        record=a_record(**fields),
        detail=detail or Detail(),
        request=Body(rest=[request]) if isinstance(request, bytes) else request,
        response=Body(rest=[response]) if isinstance(response, bytes) else response,
    )


def a_batch(*entries: Entry, **parts: Any) -> Batch:
    return Batch(entries=list(entries), **parts)


def entries_of(records: Sequence[Record]) -> list[Entry]:
    """Return entries for these records, without bodies."""
    return [Entry(record=record, detail=Detail(), request=None, response=None) for record in records]


def soon() -> int:
    """Return a deadline that no test reaches."""
    return clock.monotonic_ns() + 60 * clock.NANOSECONDS


def traffic(seed: int) -> Callable[[], Entry]:
    """Return a function that makes entries like those of a busy log.

    Three in ten entries have one of 5,000 users as namespace, and one in fifty has failed.
    """
    rng = random.Random(seed)
    labels = ("production", "staging", "development", "ios", "android", "web")
    at_us = A_TIMESTAMP

    def make() -> Entry:
        nonlocal at_us
        at_us += rng.randint(20, 200)
        raw = ids.new_id()
        hex_digits = f"{rng.getrandbits(128):032x}"
        is_failed = rng.random() < 0.02
        completion_id = f"chatcmpl-{hex_digits[:24]}"
        record = Record(
            id=ids.id_text(raw),
            started_at=at_us,
            ended_at=at_us + 812_000,
            outcome="complete" if rng.random() < 0.98 else "client_closed",
            failed=is_failed,
            namespace=rng.choice(labels) if rng.random() < 0.7 else f"user-{rng.randrange(5000)}",
            properties={"channel": rng.choice(("ios", "web", "android"))},
            upstream="https://api.openai.com/v1",
            method="POST",
            path="/v1/chat/completions",
            kind="chat",
            client_address="127.0.0.1",
            user_agent="OpenAI/Python 2.8.1",
            key="3fa9c2d1e0b4",
            model=rng.choice(("gpt-4o-mini", "gpt-4o", "gpt-5")),
            response_model="gpt-4o-mini-2024-07-18",
            status=429 if is_failed else 200,
            duration_ms=812.3,
            relay_ms=0.21,
            request_bytes=len(REQUEST),
            response_bytes=len(RESPONSE) + 22,
            input_tokens=48,
            output_tokens=37,
            cached_tokens=0,
            reasoning_tokens=0,
            cost_usd=0.0000294,
            prices_version="2026-11-01",
            finish_reason="stop",
            provider_request_id=f"req_{hex_digits}",
            completion_id=completion_id,
            input_preview="Explain in two sentences why transistors replaced vacuum tubes in computers, and name",
            output_preview="Transistors are smaller, cheaper and far more reliable than vacuum tubes, and need",
        )
        return Entry(
            record=record,
            detail=_typical_detail(hex_digits),
            request=Body(rest=[REQUEST]),
            response=Body(rest=[RESPONSE.replace(b"%s", completion_id[9:].encode())]),
        )

    return make


def _typical_detail(hex_digits: str) -> Detail:
    request = (
        "host: 127.0.0.1:4100",
        "content-type: application/json",
        "user-agent: OpenAI/Python 2.8.1",
        "accept: application/json",
        "authorization: [3fa9c2d1e0b4]",
        "accept-encoding: gzip, deflate",
    )
    response = (
        "date: Sat, 21 Nov 2026 14:02:31 GMT",
        "content-type: application/json",
        f"x-request-id: req_{hex_digits}",
        "openai-processing-ms: 812",
        "x-ratelimit-remaining-requests: 9999",
        "x-ratelimit-remaining-tokens: 149984",
        "server: cloudflare",
        f"cf-ray: {hex_digits[:16]}-FRA",
    )
    return Detail(
        exchange=ExchangeFacts(),
        reason="OK",
        request_head="\r\n".join(request).encode(),
        response_head="\r\n".join(response).encode(),
        chunk_at_us=[812_345],
        chunk_bytes=[len(RESPONSE)],
    )
