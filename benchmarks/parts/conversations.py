"""This part measures the disk space and the reading time of conversations.

*Stored* is the size of the packs, and *raw* is the size of headers and bodies. *Its last request alone* is the size of
the last request and its response if both are compressed together, without earlier requests. The first three rows are
ratios of sizes. The last three rows are the time to read the last request.
"""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import zstandard
from tests.support.records import an_entry, new_record_id

from benchmarks.bench import Bench
from benchmarks.comparison.provider import words
from benchmarks.results.figures import Result, percentile
from relaybook import clock
from relaybook.log.record import Detail
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.system.process import collect_rarely

METHOD = (
    "Requests are committed one by one to an empty SQLite store, with random words and 900 bytes of headers. "
    "*conversation*: 100 turns of about 300 tokens, each with all turns before it. *agent*: 50 requests with 60 KB of "
    "instructions. *single questions*: 4,000 requests of 60 words with answers of 120, each the first of its "
    "conversation. *Stored* are the bytes of the packs, *raw* those of headers and bodies. *Alone* is the last request "
    "with its response, compressed by itself. CPU is that of committing, per request. Reading is the median of 20 "
    "readings of the last request by a new reader, warm."
)
_REQUEST_HEAD: Final = b"user-agent: OpenAI/Python 3.1.0\r\n" + b"x-stainless-lang: python\r\n" * 16
_RESPONSE_HEAD: Final = b"content-type: application/json\r\n" + b"x-ratelimit-limit-requests: 10000\r\n" * 12
_READINGS: Final = 20


def run(bench: Bench) -> Result:
    """Write and read each kind of traffic."""
    result = Result("conversations", METHOD)
    collect_rarely()
    share = 10 if bench.quick else 1
    turns = _measure(bench.place("conversation"), _conversation(100, instructions=20, turn=220))
    agent = _measure(bench.place("agent"), _conversation(50, instructions=9_000, turn=150))
    single = _measure(bench.place("single"), _single_questions(4_000 // share))
    result.rounds += [{"what": "conversation"} | turns, {"what": "agent"} | agent, {"what": "single"} | single]
    result.add("conversation: stored / its last request alone", turns["stored"] / turns["alone"], "", 1.3)
    result.add("conversation: raw / stored", turns["raw"] / turns["stored"], "")
    result.add("agent: raw / stored", agent["raw"] / agent["stored"], "", 40, at_least=True)
    result.add("single questions: stored / raw", single["stored"] / single["raw"], "", 0.4)
    for name, found in (("conversation", turns), ("agent", agent), ("single questions", single)):
        result.add(f"{name}: CPU", found["cpu_us"], "µs/request")
        result.add(f"{name}: reading the last request", found["read_ms"], "ms", 10)
    return result


def _entry(chosen: random.Random, request: object, answer: str) -> Entry:
    now = clock.wall_us()
    message = {"role": "assistant", "content": answer}
    response = {
        "id": f"chatcmpl-{chosen.randbytes(16).hex()}",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": chosen.randrange(9_000), "completion_tokens": chosen.randrange(900)},
    }
    detail = Detail(
        request_head=b"%bx-request: %b\r\n" % (_REQUEST_HEAD, new_record_id().encode()),
        response_head=b"%bx-request-id: req_%b\r\n" % (_RESPONSE_HEAD, chosen.randbytes(16).hex().encode()),
    )
    return an_entry(
        json.dumps(request).encode(), json.dumps(response).encode(), detail, started_at=now, ended_at=now + 1
    )


def _conversation(turns: int, *, instructions: int, turn: int) -> Iterator[Entry]:
    """Yield the requests of a conversation. Lengths are numbers of words."""
    chosen, draw = random.Random(1), _drawing(2)
    messages = [{"role": "system", "content": draw(instructions)}]
    for _ in range(turns):
        messages.append({"role": "user", "content": draw(turn // 3)})
        answer = draw(turn - turn // 3)
        yield _entry(chosen, {"model": "gpt-5", "messages": messages, "stream": False}, answer)
        messages.append({"role": "assistant", "content": answer})


def _single_questions(requests: int) -> Iterator[Entry]:
    chosen, draw = random.Random(3), _drawing(4)
    system = {"role": "system", "content": "You are a helpful assistant."}
    for _ in range(requests):
        question = {"role": "user", "content": draw(60)}
        yield _entry(chosen, {"model": "gpt-5", "messages": [system, question]}, draw(120))


def _drawing(seed: int) -> Callable[[int], str]:
    """Return a function that draws words from a vocabulary of 4,000."""
    chosen = random.Random(seed)
    vocabulary = words(30_000, 1).split()[:4_000]
    return lambda number: " ".join(chosen.choices(vocabulary, k=number))


def _measure(place: Path, entries: Iterator[Entry]) -> dict[str, float]:
    """Return bytes, CPU time per request, and the median time to read the last request."""
    writer = SqliteWriter(place)
    requests, raw, cpu = 0, 0, 0.0
    entry = None
    for entry in entries:
        requests += 1
        raw += len(_content(entry))
        began = time.process_time()
        writer.commit(Batch(entries=[entry]))
        cpu += time.process_time() - began
    writer.close()
    assert entry is not None
    readings = []
    for _ in range(_READINGS):
        reader = SqliteReader(place)
        began_ns = time.perf_counter_ns()
        stored = reader.get(entry.record.id)
        readings.append((time.perf_counter_ns() - began_ns) / 1e6)
        reader.close()
        assert stored is not None
        assert stored.request
    return {
        "requests": requests,
        "raw": raw,
        "stored": sum(path.stat().st_size for path in (place / "bodies").iterdir()),
        "alone": len(zstandard.ZstdCompressor(level=1).compress(_content(entry))),
        "cpu_us": cpu / requests * 1e6,
        "read_ms": percentile(readings, 50),
    }


def _content(entry: Entry) -> bytes:
    assert entry.request is not None
    assert entry.response is not None
    assert entry.detail is not None
    return b"".join((entry.detail.request_head, entry.detail.response_head, *entry.request.rest, *entry.response.rest))
