"""A relay's share of recording without a relay: writes a run of the journal at an even pace until it is told to stop.

``python -m benchmarks.big_log_recording <journal> <records a second>``. The server's own recorder finds the run and
follows it, as it follows the relay's. The exchanges are those of a big log with a seed of its own, begun now.

They are made before the writing begins, so that it takes as much of a processor as the relay takes for requests at this
pace. Making their texts meanwhile took three times that.
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
from relaybook.journal.frame import Kind
from relaybook.journal.writer import JournalWriter
from relaybook.log.store.port import Entry

#: A relay writes what came in a tick, too: a few exchanges. Fifty at a time held a core for 3 ms, and callers waited.
_TICK_SECONDS: Final = 0.001
#: So many that the one long conversation, which the log has already, does not come before a quarter of them.
_ENDLESS: Final = 10**9
#: For so long the exchanges last that were made: all questions take two thirds of it.
_MADE_SECONDS: Final = 150


class Made(NamedTuple):
    """An exchange that is over at once, but for its moment: the payloads of its frames."""

    opened: Opened
    answered: bytes | None
    closed: bytes


def write_evenly(journal: Path, per_second: int) -> None:
    """Says on stdout when it begins; SIGTERM ends it."""
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
    writer.append(Kind.OPENED, exchange, encode_event(made.opened))
    if made.answered is not None:
        writer.append(Kind.ANSWERED, exchange, made.answered)
    writer.append(Kind.CLOSED, exchange, made.closed)


if __name__ == "__main__":
    write_evenly(Path(sys.argv[1]), int(sys.argv[2]))
