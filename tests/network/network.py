"""Run the service between two faulty networks, one to its clients and one to the upstream, and judge the log.

The judge assumes an upstream that never fails. An error response of the relay is compared with the record and then
removed from both response and record. Outcomes are checked in this module.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import uvloop
from tests.crash.judge import Call, Logged, Served, Violation, judge
from tests.crash.load import Choice, Load, RunningCall
from tests.crash.service import Provider, Service, wait_for
from tests.support.fault_proxy import NO_FAULTS, FaultProxy, Plan

from relaybook.log.record import Record

TIMEOUT_SECONDS: Final = 60.0
_PLAIN: Final[Choice] = ("whole", 300, None)


class Observed(NamedTuple):
    """One request as its client, the log and the upstream saw it.

    ``record`` or ``served`` is `None` if the log or the upstream does not know the request.
    """

    call: Call
    record: Record | None
    served: Served | None
    #: The part of the stored response that came from the upstream.
    stored: bytes

    @property
    def outcome(self) -> str | None:
        """The outcome of the record, or `None` if there is no record."""
        return self.record.outcome if self.record else None


class Network:
    """A service between two networks: ``near`` leads to its clients, ``far`` to its upstream."""

    def __init__(self, provider: Provider, service: Service, near: FaultProxy, far: FaultProxy) -> None:
        self.provider = provider
        self.service = service
        self.near = near
        self.far = far
        self._asked = 0
        # Everything so far, because late entries are compared with earlier entries.
        self._served: dict[str, Served] = {}
        self._calls: list[Call] = []
        self._logged: list[Logged] = []

    def load(self, clients: int, rng: random.Random, choose: Callable[[random.Random], Choice]) -> Load:
        """Return clients that connect through the near network."""
        return Load(self.near.port, clients, rng, choose)

    async def send(self, choice: Choice, *, near: Plan = NO_FAULTS, far: Plan = NO_FAULTS) -> list[Observed]:
        """Send one request over connections with these plans, and then at least one more request without faults."""
        await self.far.end_all()
        self.near.once(near)
        self.far.once(far)
        choices = iter([choice])
        load = self.load(1, random.Random(0), lambda _: next(choices, _PLAIN))
        self._asked += 1
        load.start(f"ask-{self._asked}")
        try:
            await wait_for(lambda: len(load.calls) > 1, f"the end of {choice}", TIMEOUT_SECONDS)
            await load.finish()
        finally:
            await load.abandon()
        return await self.observe(load.calls)

    async def observe(self, calls: list[RunningCall]) -> list[Observed]:
        """Wait until all requests have ended, judge the log, and return what each peer saw of each call."""
        records = await self._records({call.tag for call in calls if call.request_id})
        await self.far.end_all()
        await wait_for(self._is_upstream_idle, "the end of all answers", TIMEOUT_SECONDS)
        logged = {record.id: self.service.logged(record) for record in records}
        by_tag = {record.properties.get("tag"): record for record in records}
        found = []
        for call in calls:
            record = by_tag.get(call.tag)
            stored = _upstreams_part(record, logged[record.id].response) if record else b""
            found.append(Observed(call, record, self._served.get(call.tag), stored))
            assert record is None or logged[record.id].response.startswith(call.received), call.tag
        self._calls += map(_for_the_judge, found)
        self._logged += [_without_relays_part(record, logged[record.id]) for record in records]
        complaints: list[object] = [*self._judge(), *filter(None, map(_wrong_outcome, found))]
        assert complaints == [], "\n".join(map(str, complaints))
        return found

    def _judge(self) -> list[Violation]:
        return judge(self._served.values(), self._calls, self._logged)

    def _is_upstream_idle(self) -> bool:
        self._served |= {each.tag: each for each in self.provider.ended()}
        return not self.provider.open

    async def _records(self, tags: set[str]) -> list[Record]:
        records: list[Record] = []

        def are_there() -> bool:
            at_rest = self.service.is_idle()
            records.extend(self.service.new_records())
            return at_rest and tags <= {record.properties.get("tag") for record in records}

        await wait_for(are_there, f"the records of {tags}", TIMEOUT_SECONDS)
        return records


def _upstreams_part(record: Record, stored: bytes) -> bytes:
    """Return the part of a stored response that came from the upstream.

    In these tests the status of the upstream is always 200.
    """
    return stored if record.status == 200 else b""


def _without_relays_part(record: Record, logged: Logged) -> Logged:
    """Return the record as if the upstream had not failed.

    Outcomes that the judge does not know are replaced, because this module checks them.
    """
    outcome = "interrupted" if record.outcome in ("upstream_failed", "refused") else record.outcome
    return msgspec.structs.replace(logged, outcome=outcome, response=_upstreams_part(record, logged.response))


def _for_the_judge(seen: Observed) -> Call:
    """Return the call without an error response of the relay.

    A client that was cut off counts as a client that left.
    """
    call, record = seen.call, seen.record
    return Call(
        tag=call.tag,
        request=call.request,
        status=call.status,
        request_id=call.request_id,
        received=call.received[: len(seen.stored)] if record else call.received,
        complete=call.complete,
        left=not call.complete,
    )


def _wrong_outcome(seen: Observed) -> str | None:
    """Return an error text if the outcome of a record does not match the response that its client received."""
    call = seen.call
    if seen.record is None:
        return None  # the judge reports missing records
    right = {"complete", "client_closed", "upstream_failed", "refused"}
    if call.complete:
        right = {{200: "complete", 408: "refused"}.get(call.status or 0, "upstream_failed")}
    return None if seen.outcome in right else f"{call.tag}: {seen.outcome}, its caller got {call.status}, {right}"


@contextmanager
def new_network(directory: Path, *flags: str) -> Iterator[tuple[Network, asyncio.Runner]]:
    """Run a network and its event loop until the end of the block."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        provider = stack.enter_context(Provider(directory))
        far = _start(FaultProxy(_port(provider.url)), runner, stack)
        service = stack.enter_context(Service(directory, f"http://127.0.0.1:{far.port}/v1", *flags))
        near = _start(FaultProxy(service.server.port), runner, stack)
        yield Network(provider, service, near, far), runner


def _start(proxy: FaultProxy, runner: asyncio.Runner, stack: ExitStack) -> FaultProxy:
    runner.run(proxy.start())
    stack.callback(lambda: runner.run(proxy.stop()))
    return proxy


def _port(base_url: str) -> int:
    return int(base_url.removesuffix("/v1").rpartition(":")[2])
