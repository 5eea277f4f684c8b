"""Files that may not grow beyond a limit: a write across it is cut short, the next one fails, then the limit is lifted.

The kernel's own short writes, as a full disk makes them, and not what strace can only pretend. What was written before
the cut stays in the file.
"""

from collections.abc import Iterator
from typing import Final

import pytest
from tests.crash.runs import Harm, Stage, on_stage
from tests.crash.strace import synced_after_failure
from tests.support.needs import needs

pytestmark = needs("strace")

#: Somewhere within a frame, early and late in a segment.
LIMITS: Final = (150_001, 700_003)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("half-a-write")) as stage:
        yield stage


@pytest.mark.parametrize("power", [False, True], ids=["process", "power"])
@pytest.mark.parametrize("limit", LIMITS)
def test_half_of_a_batch_on_the_disk_is_no_record_and_the_relay_goes_on(stage: Stage, limit: int, power: bool) -> None:
    calls = ("pwrite64", "fallocate", "fdatasync", "fsync", "close")
    outcome = stage.run(Harm(role="relay", calls=calls, power=power, once_up=True, file_bytes=limit))
    assert outcome.tracer.has_cut_short()
    assert outcome.violations == []
    assert outcome.deaths == []
    assert synced_after_failure(outcome.tracer.seen()) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_half_of_a_page_in_the_store_costs_no_record_and_no_caller(stage: Stage, limit: int) -> None:
    calls = ("pwrite64", "ftruncate", "close")
    outcome = stage.run(Harm(role="recorder", calls=calls, once_up=True, file_bytes=limit))
    assert outcome.tracer.has_cut_short()
    assert outcome.violations == []
    assert outcome.cut == 0
