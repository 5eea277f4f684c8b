"""Insert records of the big log into a ClickHouse log.

``python -m benchmarks.big_log.clickhouse_insert <database> <records> <recorder>``. The password is in
``RELAYBOOK_STORE_PASSWORD``. The records and their search texts are made first. Then the process prints ``ready``,
waits for a line on standard input, inserts the records in batches of the size that a busy recorder commits, and prints
the CPU seconds that it used. ``recorder`` is a number that makes this recorder different from others.
"""

import os
import sys
import time
from typing import Final

from benchmarks.big_log.entries import BigLog
from benchmarks.big_log.facts import Recipe
from relaybook import clock
from relaybook.log.search_text import text_of
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.port import Batch
from relaybook.settings.store_url import parse_store_url
from relaybook.system.process import collect_rarely

_BATCH: Final = 5_000


def insert(url: str, records: int, recorder: int) -> None:
    collect_rarely()
    log = BigLog(Recipe(records, clock.wall_us(), recorder))
    batches = [Batch(entries=log.entries(first, _BATCH)) for first in range(0, records, _BATCH)]
    for entry in (entry for batch in batches for entry in batch.entries):
        entry.text = text_of(entry)  # a recorder has the text, because it has read the bodies
    address = parse_store_url(url)._replace(password=os.environ["RELAYBOOK_STORE_PASSWORD"])
    writer = ClickHouseWriter(address, f"01234567-0000-7000-8000-{recorder:012}")
    print("ready", flush=True)
    sys.stdin.readline()
    cpu_s = time.process_time()
    for batch in batches:
        writer.commit(batch)
    print(time.process_time() - cpu_s, flush=True)
    writer.close()


if __name__ == "__main__":
    insert(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
