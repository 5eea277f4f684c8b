"""Log one request and its response in the ledger. Each event is logged once, and an exchange has exactly one end."""

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger, Outcome


class Exchange:
    """One request and its response, logged in the ledger from the first byte of the request.

    Control requests to the simulator (under ``/__sim/``) are not logged.
    """

    __slots__ = (
        "_connection",
        "_is_control",
        "_is_head_noted",
        "_ledger",
        "_tally",
        "directives",
        "is_ended",
        "number",
        "request",
    )

    def __init__(self, number: int, connection: int, ledger: Ledger, is_control: bool) -> None:
        self.number = number
        self.request: Request | None = None
        self.directives: Directives = NO_DIRECTIVES
        self.is_ended = False
        self._connection = connection
        self._ledger = ledger
        self._is_control = is_control
        self._is_head_noted = False
        self._tally = ledger.new_tally()
        if not is_control:
            ledger.log_event("first_byte", connection, number)

    def count(self, content: bytes) -> None:
        """Count response content for the ledger, before the content is written to the socket."""
        if not self._is_control:
            self._tally.add(content)

    def log_head(self) -> None:
        """Log the request's head if it arrived before the body, so that the ledger has ``Sim-Tag`` early.

        Further calls do nothing.
        """
        if self.request is None or self.request.is_complete or self._is_head_noted or self._is_control:
            return
        self._is_head_noted = True
        self._ledger.log_request("head", self._connection, self.number, self.directives.tag, self.request)

    def log_request(self) -> None:
        """Log the complete request."""
        if self.request is not None and not self._is_control:
            self._ledger.log_request("request", self._connection, self.number, self.directives.tag, self.request)

    def log_malformed(self) -> None:
        """Log that the received bytes are not an HTTP request."""
        self._ledger.log_event("malformed", self._connection, self.number)

    def end(self, outcome: Outcome) -> None:
        """Log the end of the response, even if the response is incomplete. Only the first call has an effect."""
        if not self.is_ended:
            self.is_ended = True
            if not self._is_control:
                self._ledger.log_end(self._connection, self.number, self.directives.tag, self._tally, outcome)
