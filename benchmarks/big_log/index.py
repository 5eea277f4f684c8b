"""Index the text of a log while another process fills it: ``python -m benchmarks.big_log.index <store> <records>``.

The recorder's text pass runs in a separate process. So creating a large log uses one core for the records and one core
for their text. The process ends when the given number of records is indexed.
"""

import sys
import time
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.recorder.passes.text import TextPass

_SLICE_NS: Final = clock.NANOSECONDS
_PAUSE_SECONDS: Final = 0.2


def index(store: Path, records: int) -> None:
    reader, texts = SqliteReader(store), SqliteTextIndex(store)
    words = TextPass(reader, texts)
    while reader.status().indexed_to < records:
        if not words.work(clock.monotonic_ns() + _SLICE_NS):
            time.sleep(_PAUSE_SECONDS)
    texts.close()
    reader.close()


if __name__ == "__main__":
    index(Path(sys.argv[1]), int(sys.argv[2]))
