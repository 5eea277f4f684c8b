"""The service between two bad networks, one to its callers and one to the provider, and what each side saw of it.

The judge knows a provider that never fails. So what the relay said by itself (an error of its own, the event at the end
of a broken stream) is first held against the record and taken off both, and outcomes are checked here.
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
from tests.crash.load import Asked, Choice, Load
from tests.crash.service import Provider, Service, until
from tests.support.fault_proxy import NO_FAULTS, FaultProxy, Plan

from relaybook.log.record import Record

PATIENCE_SECONDS: Final = 60.0
_OUR_EVENT: Final = b'data: {"error"'
_PLAIN: Final[Choice] = ("whole", 300, None)


class Seen(NamedTuple):
    """One request as its caller, the log and the provider know it; None where one knows nothing of it."""

    call: Call
    record: Record | None
    served: Served | None
    #: What the record holds of the provider's answer, without the relay's own words.
    stored: bytes

    @property
    def outcome(self) -> str | None:
        """The record's."""
        return self.record.outcome if self.record else None


class Network:
    """``near`` is between the callers and the relay, ``far`` between the relay and the provider."""

    def __init__(self, provider: Provider, service: Service, near: FaultProxy, far: FaultProxy) -> None:
        self.provider = provider
        self.service = service
        self.near = near
        self.far = far
        self._asked = 0
        # of all that ever was: what comes late is held against what came before
        self._served: dict[str, Served] = {}
        self._calls: list[Call] = []
        self._logged: list[Logged] = []

    def load(self, callers: int, chance: random.Random, choose: Callable[[random.Random], Choice]) -> Load:
        """Callers behind the near network."""
        return Load(self.near.port, callers, chance, choose)

    async def ask(self, choice: Choice, *, near: Plan = NO_FAULTS, far: Plan = NO_FAULTS) -> list[Seen]:
        """One request over connections with these plans, and at least one more after it over good ones."""
        await self.far.end_all()
        self.near.once(near)
        self.far.once(far)
        choices = iter([choice])
        load = self.load(1, random.Random(0), lambda _: next(choices, _PLAIN))
        self._asked += 1
        load.start(f"ask-{self._asked}")
        try:
            await until(lambda: len(load.calls) > 1, f"the end of {choice}", PATIENCE_SECONDS)
            await load.finish()
        finally:
            await load.abandon()
        return await self.seen(load.calls)

    async def seen(self, calls: list[Asked]) -> list[Seen]:
        """Waits for the end of everything, lets the judge see it, and gives what is known of each call."""
        records = await self._records({call.tag for call in calls if call.request_id})
        await self.far.end_all()
        await until(self._is_provider_idle, "the end of all answers", PATIENCE_SECONDS)
        logged = {record.id: self.service.logged(record) for record in records}
        by_tag = {record.properties.get("tag"): record for record in records}
        found = []
        for call in calls:
            record = by_tag.get(call.tag)
            stored = _providers_part(record, logged[record.id].response) if record else b""
            found.append(Seen(call, record, self._served.get(call.tag), stored))
            assert record is None or logged[record.id].response.startswith(call.received), call.tag
        self._calls += map(_for_the_judge, found)
        self._logged += [_without_our_words(record, logged[record.id]) for record in records]
        complaints: list[object] = [*self._judge(), *filter(None, map(_wrong_outcome, found))]
        assert complaints == [], "\n".join(map(str, complaints))
        return found

    def _judge(self) -> list[Violation]:
        return judge(self._served.values(), self._calls, self._logged)

    def _is_provider_idle(self) -> bool:
        self._served |= {each.tag: each for each in self.provider.ended()}
        return not self.provider.open

    async def _records(self, tags: set[str]) -> list[Record]:
        records: list[Record] = []

        def are_there() -> bool:
            at_rest = self.service.is_at_rest()
            records.extend(self.service.new_records())
            return at_rest and tags <= {record.properties.get("tag") for record in records}

        await until(are_there, f"the records of {tags}", PATIENCE_SECONDS)
        return records


def _providers_part(record: Record, stored: bytes) -> bytes:
    """The stored answer without what the relay said by itself. This provider's own status is always 200."""
    if record.status != 200:
        return b""
    if record.error_code == "upstream_stream_interrupted" and _OUR_EVENT in stored:
        return stored[: stored.rindex(_OUR_EVENT)]
    return stored


def _without_our_words(record: Record, logged: Logged) -> Logged:
    """As the judge would have it if the provider had never failed. Outcomes it does not know are checked here."""
    outcome = "interrupted" if record.outcome in ("upstream_failed", "refused") else record.outcome
    return msgspec.structs.replace(logged, outcome=outcome, response=_providers_part(record, logged.response))


def _for_the_judge(seen: Seen) -> Call:
    """The call without the relay's own words; a caller that was cut off has left."""
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


def _wrong_outcome(seen: Seen) -> str | None:
    """What is wrong with a record's outcome, given what its caller got."""
    call = seen.call
    if seen.record is None:
        return None  # the judge knows whether one is missing
    right = {"complete", "client_closed", "upstream_failed", "refused"}
    if call.complete:
        right = {{200: "complete", 408: "refused"}.get(call.status or 0, "upstream_failed")}
    return None if seen.outcome in right else f"{call.tag}: {seen.outcome}, its caller got {call.status}, {right}"


@contextmanager
def a_network(directory: Path, *flags: str) -> Iterator[tuple[Network, asyncio.Runner]]:
    """A network of its own, and the loop it lives on."""
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
