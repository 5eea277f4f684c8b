"""Run relay and recorder with scripted requests and one injected fault, and judge the log at the end."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop
from tests.crash.judge import Call, Logged, Served, Violation, judge
from tests.crash.roles import ROLES, Forks, Roles, Traced
from tests.crash.scripted import send_aborted, send_script, send_until_success
from tests.crash.service import Provider, wait_for
from tests.crash.strace import TIMEOUT_SECONDS, Tracer

from relaybook.journal.reader import list_runs
from relaybook.journal.segment import sequences
from relaybook.log.query.filters import Filter
from relaybook.log.record import Side
from relaybook.log.store.sqlite.reader import SqliteReader

#: Index of the thread that creates segments, among the relay's threads in the order in which they were started.
_MAKER: Final = 1
_SEGMENTS_AT_START: Final = 2


@dataclass(frozen=True, kw_only=True)
class Injection:
    """A fault that is injected into one role.

    strace traces ``calls`` of the role's first process and applies ``injections``.
    """

    role: Traced
    calls: tuple[str, ...]
    injections: tuple[str, ...] = ()
    #: If not empty, only calls on these files are traced. Paths are relative to the data directory.
    files: tuple[str, ...] = ()
    #: Whether the whole run uses ``--durability power``.
    power: bool = False
    #: Whether strace is attached once the relay has its first segments. By default the role's process is traced from
    #: its first instruction.
    once_up: bool = False
    #: Whether only the relay's thread that creates segments is traced. Requires ``once_up``.
    of_segment_maker: bool = False
    #: Whether the fault ends after the script. By default the fault lasts until the process ends.
    heals: bool = False
    #: The maximum file size, so that a write across this limit is short. Requires ``once_up``.
    file_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one run."""

    #: Role and exit code of each process that ended without being stopped, or with a code other than 0.
    deaths: list[tuple[Traced, int]]
    violations: list[Violation]
    calls: list[Call]
    #: The operator log of each role.
    stderr: dict[Traced, str]
    tracer: Tracer

    @property
    def interrupted(self) -> int:
        """The number of clients that waited for a complete response but did not get one."""
        return sum(not call.complete and not call.left for call in self.calls)


class Stage:
    """The upstream, the process that forks roles, and a directory, which all runs share."""

    def __init__(self, directory: Path, provider: Provider, forks: Forks) -> None:
        self.provider = provider
        self.forks = forks
        self._directory = directory
        self._runs = 0

    def run(self, injection: Injection) -> Outcome:
        """Start both roles, send all requests, stop both roles, and judge the log."""
        self._runs += 1
        directory = self._directory / f"run-{self._runs}"
        directory.mkdir()
        return uvloop.run(_run(self, injection, directory, f"{self._runs}"))


@contextmanager
def on_stage(directory: Path) -> Iterator[Stage]:
    """Provide a stage until the end of the block."""
    with Provider(directory) as provider, Forks() as forks:
        yield Stage(directory, provider, forks)


async def _run(stage: Stage, injection: Injection, directory: Path, prefix: str) -> Outcome:
    provider = stage.provider
    await _served(provider)  # discard requests of an earlier run that failed
    strays = provider.strays
    async with Roles(stage.forks, directory, provider.url, power=injection.power) as roles:
        tracer = await _start(roles, injection)
        calls = await send_script(roles.port, prefix)
        broken = await send_aborted(roles.port, f"{prefix}-broken")
        if injection.heals:
            tracer.detach()
        if injection.file_bytes is not None:
            await wait_for(
                tracer.has_short_write, "a write across the limit", TIMEOUT_SECONDS
            )  # the recorder may write only after the script
            _limit_files(roles.pid(injection.role), resource.RLIM_INFINITY)
        calls += await send_until_success(roles.port, f"{prefix}-after")
        await roles.stop()
        tracer.wait()
        served = await _served(provider)
        logged = read_log(roles.data.store)
        violations = judge(served, calls, [each for each in logged if each.tag != broken.tag])
        of_failed = [each for each in logged if each.tag == broken.tag]
        violations += _judge_failed(broken, of_failed, is_reached=provider.strays > strays)
        violations += [Violation("lost", None, f"{path} is left unrecorded") for path in list_runs(roles.data.journal)]
        violations += [Violation("lost", None, f"{path} is put away") for path in roles.data.quarantine.glob("*")]
        return Outcome(
            deaths=roles.deaths,
            violations=violations,
            calls=[*calls, broken],
            stderr={role: roles.stderr(role) for role in ROLES},
            tracer=tracer,
        )


async def _start(roles: Roles, injection: Injection) -> Tracer:
    """Start both roles, and attach strace to one role."""
    if injection.once_up:
        for role in ROLES:
            roles.start(role)
        await wait_for(lambda: _segments(roles) >= _SEGMENTS_AT_START, "the relay's first segments", TIMEOUT_SECONDS)
        if injection.file_bytes is not None:
            _limit_files(roles.pid(injection.role), injection.file_bytes)
        return roles.trace(
            injection.role, injection.calls, injection.injections, thread=_MAKER if injection.of_segment_maker else None
        )
    for role in ROLES:
        if role == injection.role:
            tracer = roles.start_traced(role, injection.calls, injection.injections, injection.files)
        else:
            roles.start(role)
    return tracer


def _segments(roles: Roles) -> int:
    return sum(len(sequences(run)) for run in list_runs(roles.data.journal))


def _limit_files(pid: int, size: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


# -- judging -----------------------------------------------------------------------------------------------------------


async def _served(provider: Provider) -> list[Served]:
    """Wait until all requests at the upstream have ended. Returns the requests that ended since the last call."""
    served: list[Served] = []

    def is_over() -> bool:
        served.extend(provider.ended())
        return not provider.open

    await wait_for(is_over, "the end of all responses", TIMEOUT_SECONDS)
    return served


def _judge_failed(call: Call, records: list[Logged], *, is_reached: bool) -> list[Violation]:
    """Judge a request that the upstream aborted. The stored response is an error from the relay."""
    found = []
    record_id = call.request_id
    if (is_reached or record_id) and not records:
        found.append(Violation("lost", call.tag, "it reached the upstream, or its client received a record id"))
    if len(records) > 1:
        found.append(Violation("doubled", call.tag, f"records {', '.join(record.id for record in records)}"))
    for record in records:
        if record_id is not None and record.id != record_id:
            found.append(Violation("lost", call.tag, f"the client received the record id {record_id}"))
        if record.outcome not in ("upstream_failed", "interrupted"):
            found.append(Violation("misjudged", call.tag, f"outcome {record.outcome}"))
        if not record.response.startswith(call.received):
            found.append(Violation("short", call.tag, "the stored response is not what the client received"))
        if not call.request.startswith(record.request) or (is_reached and record.request != call.request):
            found.append(Violation("short", call.tag, "the stored request is not what reached the provider"))
    return found


def read_log(store: Path) -> list[Logged]:
    """Return every record with its stored bodies."""
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
