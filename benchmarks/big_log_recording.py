"""A relay's share of recording without a relay: writes a run of the journal at an even pace until it is told to stop.

``python -m benchmarks.big_log_recording <journal> <records a second>``. The server's own recorder finds the run and
follows it, as it follows the relay's. The exchanges are those of a big log with a seed of its own, begun now.
"""

import signal
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.big_log import BigLog
from benchmarks.big_log_facts import Recipe
from relaybook import clock
from relaybook.ids import new_id
from relaybook.journal.events import Answered, Closed, Opened, encode_event
from relaybook.journal.frame import Kind
from relaybook.journal.writer import JournalWriter
from relaybook.stores.base import Entry

#: A relay writes what came in a tick, too: a few exchanges. Fifty at a time held a core for 3 ms, and callers waited.
_TICK_SECONDS: Final = 0.001
#: So many that the one long conversation, which the log has already, does not come before a quarter of them.
_ENDLESS: Final = 10**9


def write_evenly(journal: Path, per_second: int) -> None:
    """Says on stdout when it begins; SIGTERM ends it."""
    made = BigLog(Recipe(_ENDLESS, clock.wall_us(), seed=clock.wall_us()))
    writer = JournalWriter(journal, 64 << 20, durable=False)
    is_told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: is_told.append(number))
    print("writing", flush=True)
    began, written = time.monotonic(), 0
    while not is_told:
        due = int((time.monotonic() - began) * per_second)
        for entry in made.entries(written, min(due - written, per_second)):
            _append(writer, entry)
            written += 1
        if writer.waiting:
            writer.write()
        time.sleep(_TICK_SECONDS)
    writer.close()
    print(f"{written} {time.monotonic() - began}", flush=True)


def _append(writer: JournalWriter, entry: Entry) -> None:
    """The three frames of an exchange that is over at once."""
    record, detail = entry.record, entry.detail
    exchange = new_id()
    opened = Opened(
        clock.wall_ns(),
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
    writer.append(Kind.OPENED, exchange, encode_event(opened))
    if record.status is not None:
        body = entry.response.rest[0] if entry.response else b""
        answered = Answered(record.status, b"OK", detail.response_head, False, body)
        writer.append(Kind.ANSWERED, exchange, encode_event(answered))
    writer.append(Kind.CLOSED, exchange, encode_event(Closed(record.outcome, None, None, 180_000)))  # type: ignore[arg-type]


if __name__ == "__main__":
    write_evenly(Path(sys.argv[1]), int(sys.argv[2]))
