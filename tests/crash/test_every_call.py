"""Kill relay and recorder at the start of system calls that change something, and judge the log afterwards.

If a process is killed at the start of a call, the effects of all earlier calls remain. Calls that change nothing are
therefore skipped. By default each campaign tries random calls until a kill has happened. In the long form, each
campaign tries every call of the scripted run.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from tests.crash.roles import Traced
from tests.crash.runs import Injection, Outcome, Stage, on_stage
from tests.crash.strace import instants, killing
from tests.crash.tries import Tally, chosen
from tests.support.long import LONG, new_rng
from tests.support.needs import needs

pytestmark = needs("strace")

#: Calls that change or sync files and directories on disk.
_DISK: Final = (
    *("pwrite64", "pwritev", "fallocate", "ftruncate", "truncate", "fdatasync", "fsync"),
    *("rename", "unlink", "unlinkat", "mkdir", "rmdir", "fchmod", "chmod"),
)
#: Calls whose effects reach a client, the upstream or the operator log.
_WIRE: Final = ("write", "writev", "sendto", "sendmsg", "connect", "accept4", "shutdown", "close")
#: By campaign: the role that is killed, and the calls at which it may be killed.
CAMPAIGNS: Final = {
    "relay": Injection(role="relay", calls=_DISK + _WIRE),
    "relay, power": Injection(role="relay", calls=_DISK + _WIRE, power=True),
    "the relay's maker of segments": Injection(
        role="relay", calls=(*_DISK, "openat", "mmap"), once_up=True, of_segment_maker=True
    ),
    "recorder": Injection(role="recorder", calls=_DISK),
    "recorder, power": Injection(role="recorder", calls=_DISK, power=True),
}
SIGKILL: Final = -9


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with on_stage(tmp_path_factory.mktemp("every-call")) as stage:
        yield stage


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_log_keeps_its_guarantee_if_a_role_is_killed_at_a_system_call(
    stage: Stage, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    injection = CAMPAIGNS[name]
    tally = Tally(f"killed at a call: {name}")
    untouched = stage.run(injection)
    assert untouched.violations == []
    assert _other_failures(injection.role, untouched) == []
    assert (untouched.deaths, untouched.interrupted) == ([], 0)
    for instant in chosen(instants(untouched.tracer.traced_calls()), tally, new_rng()):
        outcome = stage.run(replace(injection, injections=(killing(instant),)))
        tally.hit += outcome.deaths == [(injection.role, SIGKILL)]
        tally.interrupted += outcome.interrupted
        tally.add(instant, outcome.violations, *_other_failures(injection.role, outcome))
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit >= (tally.tried / 2 if LONG else 1), "hardly any kill happened: no two runs make the same calls"


def _other_failures(role: Traced, outcome: Outcome) -> list[str]:
    """Report unexpected deaths, output in an operator log, and clients affected by the recorder's death."""
    found = []
    if outcome.deaths not in ([], [(role, SIGKILL)]):
        found.append(f"deaths: {outcome.deaths}")
    if role == "recorder" and outcome.interrupted:
        found.append(f"{outcome.interrupted} clients were interrupted although only the recorder had died")
    found += [f"the {complaint} complains: {text[:2000]}" for complaint, text in outcome.stderr.items() if text]
    return found
