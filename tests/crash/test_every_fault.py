"""Make system calls of the relay or the recorder fail, and judge the log.

If a call fails once, no client may be affected. If a disk fails permanently, clients may be affected, but no record may
be lost, and every rejected client must get an error. After a failed sync, the same segment or pack is not synced again,
because the kernel may report success although it has dropped the data. By default each fault is tried at random calls
until it has occurred. In the long form it is tried at every call.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

import pytest
from tests.crash.roles import Traced
from tests.crash.runs import Injection, Outcome, Stage, on_stage
from tests.crash.strace import SYNCS, TracedCall, instants, synced_after_failure
from tests.crash.tries import Tally, chosen
from tests.support.long import new_rng
from tests.support.needs import needs

from relaybook import clock
from relaybook.log.store.sqlite.packs.pack_writer import first_pack_of_day, pack_name

pytestmark = needs("strace")

_TRACED: Final = ("pwrite64", "pread64", "openat", "close", "fallocate", "ftruncate", "unlink", *SYNCS)
#: Exit code of a role that cannot start.
GAVE_UP: Final = 1


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("every-fault")) as stage:
        yield stage


class Fault(NamedTuple):
    """An error that the system calls of a role return."""

    role: Traced
    calls: tuple[str, ...]
    error: str
    power: bool = False

    def __str__(self) -> str:
        return f"{self.role}, {' '.join(self.calls)}: {self.error}{', power' if self.power else ''}"

    def injection(self) -> Injection:
        """Return an injection that traces the calls of the role but makes none of them fail yet."""
        return Injection(role=self.role, calls=_TRACED, power=self.power)


#: Faults of a single call. ``retval=0`` means that the disk accepts no byte of the write and reports no error.
ONCE: Final = (
    Fault("relay", ("pwrite64",), "error=EIO"),
    Fault("relay", ("pwrite64",), "error=ENOSPC"),
    Fault("relay", ("pwrite64",), "error=EINTR"),
    Fault("relay", ("pwrite64",), "retval=0"),
    Fault("relay", ("fallocate",), "error=ENOSPC"),
    Fault("relay", ("openat",), "error=EIO"),
    Fault("relay", ("pwrite64",), "error=EIO", power=True),
    Fault("relay", ("fdatasync",), "error=EIO", power=True),
    Fault("relay", ("fsync",), "error=EIO", power=True),
    Fault("recorder", ("pwrite64",), "error=EIO"),
    Fault("recorder", ("pwrite64",), "error=ENOSPC"),
    Fault("recorder", ("pwrite64",), "retval=0"),
    Fault("recorder", ("pread64",), "error=EIO"),
    Fault("recorder", ("openat",), "error=EIO"),
    Fault("recorder", ("ftruncate", "unlink"), "error=EIO"),
    Fault("recorder", ("fdatasync",), "error=EIO"),
    Fault("recorder", ("fdatasync", "fsync"), "error=EIO", power=True),
)

#: Faults that last from one call to the end of the script.
LASTING: Final = (
    Fault("relay", ("pwrite64", "fallocate"), "error=ENOSPC"),
    Fault("relay", ("fdatasync",), "error=EIO", power=True),
    Fault("recorder", ("pwrite64", "ftruncate", "fallocate"), "error=ENOSPC"),
)


@pytest.mark.parametrize("fault", ONCE, ids=str)
def test_a_call_that_fails_once_affects_no_client(
    stage: Stage, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    _try(stage, fault, fault.injection(), "", capsys)


@pytest.mark.parametrize("fault", LASTING, ids=str)
def test_while_a_disk_fails_nothing_is_relayed_unrecorded_and_the_service_recovers_afterwards(
    stage: Stage, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    _try(stage, fault, replace(fault.injection(), once_up=True, heals=True), "+", capsys)


@cache
def _calls_without_fault(stage: Stage, harm: Injection) -> list[TracedCall]:
    """Return the calls of a run in which no call fails."""
    outcome = stage.run(harm)
    assert (outcome.violations, outcome.deaths, outcome.interrupted) == ([], [], 0)
    return outcome.tracer.traced_calls()


def test_a_pack_is_not_synced_again_after_a_failed_sync(stage: Stage) -> None:
    now_us = clock.wall_us()
    days = (now_us, now_us + 86_400_000_000)  # the test may run across midnight
    packs = tuple(f"store/bodies/{pack_name(first_pack_of_day(day))}" for day in days)
    fails = ("fdatasync:error=EIO:when=1",)
    outcome = stage.run(Injection(role="recorder", calls=_TRACED, injections=fails, files=packs, power=True))
    assert outcome.violations == []
    traced = outcome.tracer.traced_calls()
    assert [each.call for each in traced if "(INJECTED)" in each.rest] == ["fdatasync"]
    assert synced_after_failure(traced) == []


def _try(stage: Stage, fault: Fault, harm: Injection, repetition: str, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(f"fails: {fault}{repetition}")
    # Traced to the end, because a recorder on a busy machine may write nothing before the end of the script.
    calls = _calls_without_fault(stage, replace(harm, heals=False))
    every = [each for each in instants(calls) if each.call in fault.calls]
    for instant in chosen(every, tally, new_rng()):
        injections = tuple(f"{call}:{fault.error}:when={instant.number}{repetition}" for call in fault.calls)
        if not repetition:
            injections = (f"{instant.call}:{fault.error}:when={instant.number}",)
        outcome = stage.run(replace(harm, injections=injections))
        tally.hit += any("(INJECTED)" in line for line in outcome.tracer.lines())
        tally.interrupted += outcome.interrupted
        tally.add(instant, outcome.violations, *_other_failures(fault, outcome, lasts=bool(repetition)))
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit, "no fault occurred"


def _other_failures(fault: Fault, outcome: Outcome, *, lasts: bool) -> list[str]:
    """Report failures other than violations of the recording guarantee."""
    found = []
    if fault.role == "relay":
        again = synced_after_failure(outcome.tracer.traced_calls())
        found += [f"{each} was synced again after a sync had failed" for each in again]
    if any(death != (fault.role, GAVE_UP) for death in outcome.deaths):
        found.append(f"deaths: {outcome.deaths}")
    # strace counts calls per thread, so the "first sync" may fail in each of three threads and not only once.
    is_once = sum("(INJECTED)" in line for line in outcome.tracer.lines()) == 1
    if outcome.interrupted and (is_once or fault.role != "relay") and not (lasts and fault.role == "relay"):
        found.append(f"{outcome.interrupted} clients were interrupted")
    refused = [call for call in outcome.calls if call.complete and call.status not in (200, 502)]
    if not all(call.status == 503 and b'"log_unavailable"' in call.received for call in refused):
        found.append(f"refused otherwise than by log_unavailable: {[bytes(call.received) for call in refused]}")
    return found
