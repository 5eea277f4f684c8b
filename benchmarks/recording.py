"""Measure the CPU time of the recorder per request: build the entry, commit it to SQLite, and index its text.

Prints the median of five runs for whole responses, and for streams of 100 chunks. The bodies are those of
``benchmarks.parsing``, with random words. Run ``python -m benchmarks.recording``.
"""

import gc
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.support.frames import Script

from benchmarks.parsing import ANSWER, CHUNK, REQUEST
from relaybook import clock
from relaybook.ids import new_id
from relaybook.log.prices import Prices
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold, JournalExchange
from relaybook.recorder.passes.text import TextPass

_RUNS: Final = 5
_BATCH: Final = 200
_CHUNKS: Final = 100
#: Number of bytes of a stream that arrive at once.
_ARRIVE: Final = 1500
_RANDOM: Final = random.Random(5)
_WORDS: Final = [f"word{number}" for number in range(5000)]


def _words(count: int) -> bytes:
    return " ".join(_RANDOM.choices(_WORDS, k=count)).encode()


def exchange(number: int, *, is_stream: bool) -> JournalExchange:
    """Return a complete exchange."""
    id_ = new_id()
    script = Script().open(id_, properties={"tenant": f"t{number % 50}"})
    script = script.request(id_, REQUEST.replace(b"Plan a weekend", _words(12)))
    if is_stream:
        chunks = [CHUNK.replace(b" early", b" " + _words(1)) for _ in range(_CHUNKS)]
        chunks.append(CHUNK.replace(b'"finish_reason":null', b'"finish_reason":"stop"') + b"data: [DONE]\n\n")
        body, head = b"".join(chunks), b"content-type: text/event-stream"
    else:
        body, head = ANSWER.replace(b"Start early.", _words(4)), b"content-type: application/json"
    parts = [body[start : start + _ARRIVE] for start in range(0, len(body), _ARRIVE)]
    return Fold().feed(script.respond(id_, *parts, head=head).close(id_).frames)[0]


def microseconds(exchanges: list[JournalExchange]) -> float:
    """Return the CPU time per exchange, in a new store."""
    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "store"
        writer = SqliteWriter(store)
        builder = EntryBuilder(Prices(), writer.read_body)
        builder.warm()
        texts = TextPass(SqliteReader(store), SqliteTextIndex(store))
        gc.collect()
        gc.freeze()
        start = time.process_time()
        for first in range(0, len(exchanges), _BATCH):
            entries = [builder.entry(each, builder.bodies(each)) for each in exchanges[first : first + _BATCH]]
            writer.commit(Batch(entries=entries))
            texts.committed(entries)
            texts.work(clock.monotonic_ns() + 10**10)
        return (time.process_time() - start) / len(exchanges) * 1e6


def main() -> None:
    """Print one line per shape of the response."""
    for name, count, is_stream in (("whole response", 2000, False), (f"stream of {_CHUNKS} chunks", 1000, True)):
        runs = [microseconds([exchange(number, is_stream=is_stream) for number in range(count)]) for _ in range(_RUNS)]
        print(f"{name:22} {statistics.median(runs):6.1f} µs per request")


if __name__ == "__main__":
    main()
