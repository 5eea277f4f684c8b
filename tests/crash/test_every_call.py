"""Kills relay and recorder at the entry of every system call that changes something, and judges the log afterwards.

A death at the entry of a call leaves what all calls before it made, so calls that only look are passed over.
One call of each campaign in a sample, every call of the scripted run in the long form.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from tests.crash.roles import Traced
from tests.crash.runs import Harm, Outcome, Stage, on_stage
from tests.crash.strace import instants, killing
from tests.crash.tries import Tally, chosen
from tests.support.long import LONG, new_rng
from tests.support.needs import needs

pytestmark = needs("strace")

#: What makes room on the disk or fills it.
_DISK: Final = (
    *("pwrite64", "pwritev", "fallocate", "ftruncate", "truncate", "fdatasync", "fsync"),
    *("rename", "unlink", "unlinkat", "mkdir", "rmdir", "fchmod", "chmod"),
)
#: What reaches a caller or the provider, or the operator's log.
_WIRE: Final = ("write", "writev", "sendto", "sendmsg", "connect", "accept4", "shutdown", "close")
#: The part that is killed, and the calls at which it may be.
CAMPAIGNS: Final = {
    "relay": Harm(role="relay", calls=_DISK + _WIRE),
    "relay, power": Harm(role="relay", calls=_DISK + _WIRE, power=True),
    "the relay's maker of segments": Harm(role="relay", calls=(*_DISK, "openat", "mmap"), once_up=True, of_maker=True),
    "recorder": Harm(role="recorder", calls=_DISK),
    "recorder, power": Harm(role="recorder", calls=_DISK, power=True),
}
SIGKILL: Final = -9


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("every-call")) as stage:
        yield stage


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_killed_at_any_call_the_log_keeps_its_promise(
    stage: Stage, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    harm = CAMPAIGNS[name]
    tally = Tally(f"killed at a call: {name}")
    untouched = stage.run(harm)
    assert untouched.violations == []
    assert _beside(harm.role, untouched) == []
    assert (untouched.deaths, untouched.cut) == ([], 0)
    for instant in chosen(instants(untouched.tracer.seen()), tally, new_rng()):
        outcome = stage.run(replace(harm, injections=(killing(instant),)))
        tally.hit += outcome.deaths == [(harm.role, SIGKILL)]
        tally.cut += outcome.cut
        tally.add(instant, outcome.violations, *_beside(harm.role, outcome))
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit >= (tally.tried / 2 if LONG else 1), "hardly any death came to pass: no two runs are alike"


def _beside(role: Traced, outcome: Outcome) -> list[str]:
    """What else must hold: one death at most, nobody complains, and a recorder's death is no caller's affair."""
    found = []
    if outcome.deaths not in ([], [(role, SIGKILL)]):
        found.append(f"deaths: {outcome.deaths}")
    if role == "recorder" and outcome.cut:
        found.append(f"{outcome.cut} callers were cut although only the recorder had died")
    found += [f"the {each} complains: {text[:2000]}" for each, text in outcome.stderr.items() if text]
    return found
