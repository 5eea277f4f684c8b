"""One request and its answer as the ledger sees them: each fact noted once, and one end."""

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger, Outcome


class Exchange:
    """Begins with the request's first byte. What controls the simulator itself is not noted."""

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
            ledger.note("first_byte", connection, number)

    def count(self, content: bytes) -> None:
        """Content of the answer is about to be written."""
        if not self._is_control:
            self._tally.add(content)

    def note_head(self) -> None:
        """The head came before the body; noted at once, so that the tag is known."""
        if self.request is None or self.request.is_complete or self._is_head_noted or self._is_control:
            return
        self._is_head_noted = True
        self._ledger.note_request("head", self._connection, self.number, self.directives.tag, self.request)

    def note_request(self) -> None:
        """The whole request came."""
        if self.request is not None and not self._is_control:
            self._ledger.note_request("request", self._connection, self.number, self.directives.tag, self.request)

    def note_malformed(self) -> None:
        """What came is no request."""
        self._ledger.note("malformed", self._connection, self.number)

    def end(self, outcome: Outcome) -> None:
        """The answer is out, or never will be. Only the first call counts."""
        if not self.is_ended:
            self.is_ended = True
            if not self._is_control:
                self._ledger.note_end(self._connection, self.number, self.directives.tag, self._tally, outcome)
