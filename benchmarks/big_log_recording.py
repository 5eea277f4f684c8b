"""Write a run of the journal at a constant rate in place of a relay, until stopped.

``python -m benchmarks.big_log_recording <journal> <records per second>``. The server's recorder finds the run and
follows it like a relay's. The exchanges are those of a big log with a different seed that starts now.

The exchanges are generated before writing starts, so that writing uses as much CPU as the relay uses for requests at
this rate. Generating their texts at the same time took three times as much.
"""

import gc
import signal
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.big_log import BigLog
from benchmarks.big_log_facts import Recipe
from relaybook import clock
from relaybook.ids import new_id
from relaybook.journal.events import Answered, Closed, Opened, encode_event
from relaybook.journal.frame import FrameKind
from relaybook.journal.writer import JournalWriter
from relaybook.log.store.port import Entry

#: Like a relay, write the few exchanges of a tick at once. Fifty at once blocked a core for 3 ms, and clients waited.
_TICK_SECONDS: Final = 0.001
#: A number of records that is never reached. The long conversation, which the log already has, starts after a quarter.
_ENDLESS: Final = 10**9
#: Seconds that the generated exchanges suffice for. All queries take two thirds of it.
_MADE_SECONDS: Final = 150


class Made(NamedTuple):
    """A complete exchange without its timestamps: the payloads of its frames."""

    opened: Opened
    answered: bytes | None
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
        entry.request.rest[0] if entry.request else b"",
        True,
    )
    body = entry.response.rest[0] if entry.response else b""
    answered = None if record.status is None else Answered(record.status, b"OK", detail.response_head, False, body)
    closed = Closed(record.outcome, None, None, 180_000)  # type: ignore[arg-type]
    return Made(opened, None if answered is None else encode_event(answered), encode_event(closed))


def _append(writer: JournalWriter, made: Made) -> None:
    exchange = new_id()
    made.opened.wall_ns = clock.wall_ns()
    writer.append(FrameKind.OPENED, exchange, encode_event(made.opened))
    if made.answered is not None:
        writer.append(FrameKind.ANSWERED, exchange, made.answered)
    writer.append(FrameKind.CLOSED, exchange, made.closed)


if __name__ == "__main__":
    write_evenly(Path(sys.argv[1]), int(sys.argv[2]))
