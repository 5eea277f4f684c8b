"""Limit the file size so that a write across the limit is short and the next write fails. Then remove the limit.

The kernel really shortens these writes, as on a full disk. strace could only pretend to shorten them. The bytes before
the limit stay in the file.
"""

from collections.abc import Iterator
from typing import Final

import pytest
from tests.crash.runs import Injection, Stage, on_stage
from tests.crash.strace import synced_after_failure
from tests.support.needs import needs

pytestmark = needs("strace")

#: Offsets inside a frame, one early and one late in a segment.
LIMITS: Final = (150_001, 700_003)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("half-a-write")) as stage:
        yield stage


@pytest.mark.parametrize("power", [False, True], ids=["process", "power"])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_batch_written_in_part_is_no_record_and_the_relay_continues(stage: Stage, limit: int, power: bool) -> None:
    calls = ("pwrite64", "fallocate", "fdatasync", "fsync", "close")
    outcome = stage.run(Injection(role="relay", calls=calls, power=power, once_up=True, file_bytes=limit))
    assert outcome.tracer.has_short_write()
    assert outcome.violations == []
    assert outcome.deaths == []
    assert synced_after_failure(outcome.tracer.traced_calls()) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_a_page_of_the_store_written_in_part_loses_no_record_and_affects_no_client(stage: Stage, limit: int) -> None:
    calls = ("pwrite64", "ftruncate", "close")
    outcome = stage.run(Injection(role="recorder", calls=calls, once_up=True, file_bytes=limit))
    assert outcome.tracer.has_short_write()
    assert outcome.violations == []
    assert outcome.interrupted == 0
