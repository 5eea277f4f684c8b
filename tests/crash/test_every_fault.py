"""Makes the disk fail at every call of the relay on the journal, and of the recorder on the store, and judges the log.

A call that fails once must cost no caller anything; a disk that stays broken may, but never a record. Whoever is
refused is told so. No segment or pack is synced again after a sync of it has failed: a kernel may then say that all is
well, and have dropped what it could not write. One call of each fault in a sample, every call in
the long form.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

import pytest
from tests.crash.roles import Traced
from tests.crash.runs import Harm, Outcome, Stage, on_stage
from tests.crash.strace import SYNCS, Seen, instants, synced_after_failure
from tests.crash.tries import Tally, chosen
from tests.support.long import new_rng
from tests.support.needs import needs

pytestmark = needs("strace")

_TRACED: Final = ("pwrite64", "pread64", "openat", "close", "fallocate", "ftruncate", "unlink", *SYNCS)
#: A role that fails at its start, before it can work without what is broken, ends by itself with this.
GAVE_UP: Final = 1


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("every-fault")) as stage:
        yield stage


class Fault(NamedTuple):
    """How calls of a role fail."""

    role: Traced
    calls: tuple[str, ...]
    how: str
    power: bool = False

    def __str__(self) -> str:
        return f"{self.role}, {' '.join(self.calls)}: {self.how}{', power' if self.power else ''}"

    def harm(self) -> Harm:
        """The role with its calls traced, none of them failing yet."""
        return Harm(role=self.role, calls=_TRACED, power=self.power)


#: ``retval=0``: the disk takes no byte of the write, and names no reason.
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

#: From some call on, to the end of the script.
LASTING: Final = (
    Fault("relay", ("pwrite64", "fallocate"), "error=ENOSPC"),
    Fault("relay", ("fdatasync",), "error=EIO", power=True),
    Fault("recorder", ("pwrite64", "ftruncate", "fallocate"), "error=ENOSPC"),
)


@pytest.mark.parametrize("fault", ONCE, ids=str)
def test_a_call_that_fails_once_costs_no_caller_anything(
    stage: Stage, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    _try(stage, fault, fault.harm(), "", capsys)


@pytest.mark.parametrize("fault", LASTING, ids=str)
def test_while_a_disk_is_broken_nothing_is_relayed_unrecorded_and_then_all_goes_on(
    stage: Stage, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    _try(stage, fault, replace(fault.harm(), once_up=True, heals=True), "+", capsys)


@cache
def _untouched(stage: Stage, harm: Harm) -> list[Seen]:
    """The calls of a run in which none fails."""
    outcome = stage.run(harm)
    assert (outcome.violations, outcome.deaths, outcome.cut) == ([], [], 0)
    return outcome.tracer.seen()


def test_a_pack_is_not_synced_again_after_its_sync_has_failed(stage: Stage) -> None:
    harm = Harm(role="recorder", calls=_TRACED, power=True)
    syncs = [each for each in _untouched(stage, harm) if each.call == "fdatasync"]
    first = next(each.number for each in syncs if ".pack>" in each.rest)
    outcome = stage.run(replace(harm, injections=(f"fdatasync:error=EIO:when={first}",)))
    assert outcome.violations == []
    assert [each for each in synced_after_failure(outcome.tracer.seen()) if ".pack>" in each] == []


def _try(stage: Stage, fault: Fault, harm: Harm, from_there_on: str, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(f"fails: {fault}{from_there_on}")
    every = [each for each in instants(_untouched(stage, harm)) if each.call in fault.calls]
    for instant in chosen(every, tally, new_rng()):
        injections = tuple(f"{call}:{fault.how}:when={instant.number}{from_there_on}" for call in fault.calls)
        if not from_there_on:
            injections = (f"{instant.call}:{fault.how}:when={instant.number}",)
        outcome = stage.run(replace(harm, injections=injections))
        tally.hit += any("(INJECTED)" in line for line in outcome.tracer.lines())
        tally.cut += outcome.cut
        tally.add(instant, outcome.violations, *_beside(fault, outcome, lasts=bool(from_there_on)))
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit, "no fault came to pass"


def _beside(fault: Fault, outcome: Outcome, *, lasts: bool) -> list[str]:
    """What else must hold."""
    found = []
    if fault.role == "relay":
        again = synced_after_failure(outcome.tracer.seen())
        found += [f"{each} was synced again after a sync had failed" for each in again]
    if any(death != (fault.role, GAVE_UP) for death in outcome.deaths):
        found.append(f"deaths: {outcome.deaths}")
    # strace counts calls by thread: the first sync of three threads may fail, and then "once" is not what happened
    is_once = sum("(INJECTED)" in line for line in outcome.tracer.lines()) == 1
    if outcome.cut and (is_once or fault.role != "relay") and not (lasts and fault.role == "relay"):
        found.append(f"{outcome.cut} callers were cut")
    refused = [call for call in outcome.calls if call.complete and call.status not in (200, 502)]
    if not all(call.status == 503 and b'"log_unavailable"' in call.received for call in refused):
        found.append(f"refused otherwise than by log_unavailable: {[bytes(call.received) for call in refused]}")
    return found
