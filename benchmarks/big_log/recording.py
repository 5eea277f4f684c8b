"""Write a run of the journal at a constant rate, like a relay, until stopped.

``python -m benchmarks.big_log.recording <journal> <records per second>``. The server's recorder finds the run and reads
it like the run of a relay. The exchanges are the records of a big log that starts now and has a different seed.

The exchanges are generated before writing starts, so that writing uses as much CPU time as a relay uses at this rate.
Generating the texts at the same time took three times as much CPU time.
"""

import gc
import signal
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.big_log.entries import BigLog
from benchmarks.big_log.facts import Recipe
from relaybook import clock
from relaybook.ids import new_id
from relaybook.journal.events import Closed, Opened, ResponseBegin, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.journal.writer import JournalWriter
from relaybook.log.store.entry import Entry

#: Like a relay, each tick writes a few exchanges at once. Writing fifty exchanges at once blocked a core for 3 ms, and
#: clients had to wait.
_TICK_SECONDS: Final = 0.001
#: A number of records that is never reached. So the long conversation, which starts after a quarter of the records, is
#: not repeated.
_ENDLESS: Final = 10**9
#: How many seconds the generated exchanges last. All queries take two thirds of this time.
_MADE_SECONDS: Final = 150


class Made(NamedTuple):
    """The frame payloads of a complete exchange, without timestamps."""

    opened: Opened
    begin: bytes | None
    closed: bytes


def write_evenly(journal: Path, per_second: int) -> None:
    """Write until SIGTERM. Prints a line when writing starts."""
    log = BigLog(Recipe(_ENDLESS, clock.wall_us(), seed=clock.wall_us()))
    firsts = range(0, per_second * _MADE_SECONDS, per_second)
    made = [_made(entry) for first in firsts for entry in log.entries(first, per_second)]
    gc.freeze()
    writer = JournalWriter(journal, 64 << 20, durable=False)
    is_told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: is_told.append(number))
    print("writing", flush=True)
    began, written = time.monotonic(), 0
    while not is_told:
        due = int((time.monotonic() - began) * per_second)
        if due > len(made):
            sys.exit(f"The exchanges made for {_MADE_SECONDS} s are used up: the questions took longer than that.")
        for each in made[written:due]:
            _append(writer, each)
        written = due
        if writer.waiting:
            writer.write()
        time.sleep(_TICK_SECONDS)
    writer.close()
    print(f"{written} {time.monotonic() - began}", flush=True)


def _made(entry: Entry) -> Made:
    record, detail = entry.record, entry.detail
    assert detail is not None
    opened = Opened(
        0,
        b"POST",
        record.path.encode(),
        detail.request_head,
        record.namespace,
        record.properties,
        [],
        record.route,
        record.upstream,
        record.client_address,
        "full",
        record.key,
        record.path.encode().removeprefix(b"/v1"),
        record.kind,
        entry.request.rest[0] if entry.request else b"",
        True,
    )
    body = entry.response.rest[0] if entry.response else b""
    begin = None if record.status is None else ResponseBegin(record.status, b"OK", detail.response_head, False, body)
    closed = Closed(record.outcome, None, None, 180_000)  # type: ignore[arg-type]
    return Made(opened, None if begin is None else encode_event(begin), encode_event(closed))


def _append(writer: JournalWriter, made: Made) -> None:
    exchange = new_id()
    made.opened.wall_ns = clock.wall_ns()
    writer.append(FrameKind.OPENED, exchange, encode_event(made.opened))
    if made.begin is not None:
        writer.append(FrameKind.RESPONSE_BEGIN, exchange, made.begin)
    writer.append(FrameKind.CLOSED, exchange, made.closed)


if __name__ == "__main__":
    write_evenly(Path(sys.argv[1]), int(sys.argv[2]))
