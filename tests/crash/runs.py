"""One run of relay and recorder under the script while something is done to one of them, judged at its end."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop
from tests.crash.judge import Call, Logged, Served, Violation, judge
from tests.crash.roles import ROLES, Forks, Roles, Traced
from tests.crash.scripted import ask_all, ask_in_vain, ask_until_answered
from tests.crash.service import Provider, until
from tests.crash.strace import PATIENCE_SECONDS, Tracer

from relaybook.journal.reader import list_runs
from relaybook.journal.segment import sequences
from relaybook.log.query.filters import Filter
from relaybook.log.record import Side
from relaybook.log.store.sqlite.reader import SqliteReader

#: Of the relay's threads in the order of their start: the one that makes segments.
_MAKER: Final = 1
_SEGMENTS_AT_START: Final = 2


@dataclass(frozen=True, kw_only=True)
class Harm:
    """What is done to a role: strace sees ``calls`` of its first process and makes ``injections``."""

    role: Traced
    calls: tuple[str, ...]
    injections: tuple[str, ...] = ()
    #: The whole run with --durability power.
    power: bool = False
    #: Nothing is done before the relay has its first segments; else from the first instant of the role's process.
    once_up: bool = False
    #: Only the relay's thread that makes segments is traced. With ``once_up``.
    of_maker: bool = False
    #: It ends when the script is through, not with the process.
    heals: bool = False
    #: No file may grow beyond this, so a write across it is cut short. With ``once_up``.
    file_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one run."""

    #: Exit codes of processes that ended without being told, or otherwise than with 0.
    deaths: list[tuple[Traced, int]]
    violations: list[Violation]
    calls: list[Call]
    #: What each role wrote to the operator's log.
    stderr: dict[Traced, str]
    tracer: Tracer

    @property
    def cut(self) -> int:
        """How many callers got no whole answer, of those who waited for it."""
        return sum(not call.complete and not call.left for call in self.calls)


class Stage:
    """What all runs share: the provider, the process that roles are forked from, and room on the disk."""

    def __init__(self, directory: Path, provider: Provider, forks: Forks) -> None:
        self.provider = provider
        self.forks = forks
        self._directory = directory
        self._runs = 0

    def run(self, harm: Harm) -> Outcome:
        """One run from the start of the roles to the end of the recorder."""
        self._runs += 1
        directory = self._directory / f"run-{self._runs}"
        directory.mkdir()
        return uvloop.run(_run(self, harm, directory, f"{self._runs}"))


@contextmanager
def on_stage(directory: Path) -> Iterator[Stage]:
    """A stage while the block runs."""
    with Provider(directory) as provider, Forks() as forks:
        yield Stage(directory, provider, forks)


async def _run(stage: Stage, harm: Harm, directory: Path, prefix: str) -> Outcome:
    provider = stage.provider
    await _served(provider)  # the rest of a run that failed
    strays = provider.strays
    async with Roles(stage.forks, directory, provider.url, power=harm.power) as roles:
        tracer = await _start(roles, harm)
        asked = await ask_all(roles.port, prefix)
        broken = await ask_in_vain(roles.port, f"{prefix}-broken")
        if harm.heals:
            tracer.detach()
        if harm.file_bytes is not None:
            await until(tracer.has_cut_short, "a write across the limit", PATIENCE_SECONDS)  # a recorder comes after
            _limit_files(roles.pid(harm.role), resource.RLIM_INFINITY)
        asked += await ask_until_answered(roles.port, f"{prefix}-after")
        await roles.stop()
        tracer.wait()
        served = await _served(provider)
        logged = read_log(roles.data.store)
        violations = judge(served, asked, [each for each in logged if each.tag != broken.tag])
        of_broken = [each for each in logged if each.tag == broken.tag]
        violations += _judge_broken(broken, of_broken, is_reached=provider.strays > strays)
        violations += [Violation("lost", None, f"{path} is left unrecorded") for path in list_runs(roles.data.journal)]
        violations += [Violation("lost", None, f"{path} is put away") for path in roles.data.quarantine.glob("*")]
        return Outcome(
            deaths=roles.deaths,
            violations=violations,
            calls=[*asked, broken],
            stderr={role: roles.stderr(role) for role in ROLES},
            tracer=tracer,
        )


async def _start(roles: Roles, harm: Harm) -> Tracer:
    """Both roles, and strace beside the one."""
    if harm.once_up:
        for role in ROLES:
            roles.start(role)
        await until(lambda: _segments(roles) >= _SEGMENTS_AT_START, "the relay's first segments", PATIENCE_SECONDS)
        if harm.file_bytes is not None:
            _limit_files(roles.pid(harm.role), harm.file_bytes)
        return roles.trace(harm.role, harm.calls, harm.injections, thread=_MAKER if harm.of_maker else None)
    for role in ROLES:
        if role == harm.role:
            tracer = roles.start_traced(role, harm.calls, harm.injections)
        else:
            roles.start(role)
    return tracer


def _segments(roles: Roles) -> int:
    return sum(len(sequences(run)) for run in list_runs(roles.data.journal))


def _limit_files(pid: int, size: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


# -- the judgement -------------------------------------------------------------------------------------------------


async def _served(provider: Provider) -> list[Served]:
    """What reached the provider since the last call, once all of it is over."""
    served: list[Served] = []

    def is_over() -> bool:
        served.extend(provider.ended())
        return not provider.open

    await until(is_over, "the end of all answers", PATIENCE_SECONDS)
    return served


def _judge_broken(call: Call, records: list[Logged], *, is_reached: bool) -> list[Violation]:
    """The judge's rules for a request that the provider failed: the stored answer is our own."""
    found = []
    told = call.request_id
    if (is_reached or told) and not records:
        found.append(Violation("lost", call.tag, "it reached the provider, or its caller was told of a record"))
    if len(records) > 1:
        found.append(Violation("doubled", call.tag, f"records {', '.join(record.id for record in records)}"))
    for record in records:
        if told is not None and record.id != told:
            found.append(Violation("lost", call.tag, f"the caller was told that its record is {told}"))
        if record.outcome not in ("upstream_failed", "interrupted"):
            found.append(Violation("misjudged", call.tag, f"outcome {record.outcome}"))
        if not record.response.startswith(call.received):
            found.append(Violation("short", call.tag, "the stored answer is not what the caller received"))
        if not call.request.startswith(record.request) or (is_reached and record.request != call.request):
            found.append(Violation("short", call.tag, "the stored request is not what reached the provider"))
    return found


def read_log(store: Path) -> list[Logged]:
    """Every record with its bodies as they are stored."""
    reader = SqliteReader(store)

    def body(record_id: str, side: Side) -> bytes:
        return b"".join(reader.body(record_id, side) or ())

    try:
        records, _ = reader.since(0, Filter(), 1000)
        return [
            Logged(
                id=record.id,
                tag=record.properties.get("tag"),
                namespace=record.namespace,
                outcome=record.outcome,
                request=body(record.id, "request"),
                response=body(record.id, "response"),
            )
            for record in records
        ]
    finally:
        reader.close()
