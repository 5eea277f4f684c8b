"""Only the data itself causes a rejection. If memory runs out, the commit is repeated later."""

from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.support.records import a_batch, an_entry

from relaybook.log.store.errors import BatchRejected, StoreUnavailable
from relaybook.log.store.sqlite.writer import SqliteWriter


class Failing:
    """A compressor that fails with the message of zstandard."""

    def __init__(self, message: str) -> None:
        self._message = message

    def compress(self, data: bytes) -> bytes:
        raise zstandard.ZstdError(self._message)


def test_a_commit_without_memory_for_compression_is_repeated_and_not_rejected(tmp_path: Path) -> None:
    writer: Any = SqliteWriter(tmp_path)
    compressor, writer._compressor = (
        writer._compressor,
        Failing("cannot compress: Allocation error : not enough memory"),
    )
    batch = a_batch(an_entry(b"question" * 20_000))
    with pytest.raises(StoreUnavailable, match="out of memory: end other programs, or add memory"):
        writer.commit(batch)
    writer._compressor = compressor
    writer.commit(batch)
    assert batch.entries[0].record.seq == 1
    writer.close()


def test_a_commit_that_can_never_be_compressed_is_rejected(tmp_path: Path) -> None:
    writer: Any = SqliteWriter(tmp_path)
    writer._compressor = Failing("cannot compress: Src size is incorrect")
    with pytest.raises(BatchRejected):
        writer.commit(a_batch(an_entry()))
    writer.close()
