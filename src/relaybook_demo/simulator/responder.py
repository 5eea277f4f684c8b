"""Turn each request into a ``Plan`` of its response.

All connections share the settings, the ledger, the scripts and the counters.
"""

import itertools
import os

from relaybook import clock
from relaybook_demo.simulator import replies
from relaybook_demo.simulator.control import PREFIX, Controls, Refusal, control
from relaybook_demo.simulator.directive_values import BadDirective
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives, read_directives
from relaybook_demo.simulator.framing import ResponseContext
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger
from relaybook_demo.simulator.plans import Plan, plan_raw, plan_response
from relaybook_demo.simulator.provider import metadata_of, reply_to
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.scripts import plan_script
from relaybook_demo.simulator.settings import SimulatorSettings


class Responder:
    """Decides how to respond, without using a socket."""

    def __init__(self, settings: SimulatorSettings) -> None:
        self.settings = settings
        self.controls = Controls(Ledger(settings.ledger_mode, settings.ledger_keep, settings.ledger_file))
        self.ledger = self.controls.ledger
        self._run = os.urandom(6).hex()
        self._stamps = itertools.count(1)
        self._connections = itertools.count(1)
        self._exchanges = itertools.count(1)

    def next_connection(self) -> int:
        """Return the number of a new connection, from 1."""
        return next(self._connections)

    def next_exchange(self) -> int:
        """Return the number of a new exchange, from 1."""
        return next(self._exchanges)

    def next_refusal(self) -> Refusal | None:
        """Return the way to refuse the new connection, or `None` to accept it."""
        return self.controls.refusals.popleft() if self.controls.refusals else None

    def directives_of(self, request: Request) -> Directives:
        """Return the directives of a request that may be incomplete. If they are invalid, return ``NO_DIRECTIVES``."""
        try:
            return self._read_directives(request)
        except BadDirective:
            return NO_DIRECTIVES

    def plan(self, request: Request) -> Plan:
        """Return the plan for the response to a request."""
        if request.path.startswith(PREFIX):
            return self.plan_reply(request, NO_DIRECTIVES, control(request, self.controls))
        try:
            directives = self._read_directives(request)
        except BadDirective as error:
            return self.plan_reply(request, NO_DIRECTIVES, replies.invalid_request(400, str(error), "bad_directive"))
        if directives.raw is not None:
            return plan_raw(directives.raw, directives)
        if directives.script is not None:
            return self._plan_script(request, directives.script)
        stamp = self._stamp()
        return self._plan(request, directives, reply_to(request, directives, stamp), stamp)

    def plan_reply(self, request: Request, directives: Directives, reply: Reply) -> Plan:
        """Return the plan for a given reply."""
        return self._plan(request, directives, reply, self._stamp())

    def _plan(self, request: Request, directives: Directives, reply: Reply, stamp: Stamp) -> Plan:
        return plan_response(ResponseContext(request, directives, reply, stamp, self.settings), clock.wall_ns)

    def _read_directives(self, request: Request) -> Directives:
        return read_directives(
            request.headers, request.query, metadata_of(request.body) if request.is_complete else None
        )

    def _plan_script(self, request: Request, name: str) -> Plan:
        script = self.controls.scripts.get(name)
        if script is None:
            reply = replies.invalid_request(
                400, f"Script {name!r} does not exist. Store it with PUT /__sim/scripts/{name}.", "bad_directive"
            )
            return self.plan_reply(request, NO_DIRECTIVES, reply)
        return plan_script(script, request.method)

    def _stamp(self) -> Stamp:
        return Stamp(f"{self._run}{next(self._stamps):012x}", clock.wall_ns() // clock.NANOSECONDS)
