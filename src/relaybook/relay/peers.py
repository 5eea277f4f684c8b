"""The interfaces between an exchange and the objects around it: its connections, and the context of its worker."""

from typing import Protocol


class Dial(Protocol):
    """A connection to the upstream that is being established."""

    def cancel(self) -> object:
        """Stop dialing. The dial then calls no method of the exchange."""


class Client(Protocol):
    """The client connection of an exchange."""

    keep_alive: bool
    version_1_0: bool
    #: Whether a broken response must end with a reset, because a closed connection would look like the end of a
    #: complete response.
    reset_on_cut: bool
    #: Number of response bytes that wait for the journal.
    queued_bytes: int
    reading: bool
    write_paused: bool

    def send(self, data: bytes) -> None:
        """Send response bytes once the journal contains all earlier frames."""

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading from the client."""

    def response_sent(self, _: bytes) -> None:
        """End the exchange once the kernel has the last byte of the response. The gate calls this method."""

    def cut(self, _: bytes) -> None:
        """End a broken response. The gate calls this method."""

    def abandon(self) -> None:
        """Reset the connection now. The exchange gets no further calls from the connection."""


class Upstream(Protocol):
    """The upstream connection of an exchange."""

    queued_bytes: int
    reading: bool
    write_paused: bool
    #: Loop time at which bytes were last received.
    last_received_at: float

    def send(self, data: bytes) -> None:
        """Send request bytes once the journal contains all earlier frames."""

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading from the upstream."""

    def stalled(self, now: float, seconds: float) -> bool:
        """Return whether written bytes wait, and the upstream accepted no byte during the last ``seconds`` seconds."""

    def finished(self, *, reusable: bool) -> None:
        """Release the connection from its exchange, and put it into the pool or close it."""

    def abort(self) -> None:
        """Close the connection now. The exchange gets no further calls from the connection."""


class RunningExchange(Protocol):
    """A running exchange, as the context of its worker uses it."""

    id: bytes

    def sweep(self, now: float) -> None:
        """Enforce the timeouts of the upstream. ``now`` is the event loop's time."""

    def forward_without_record(self, problem: str) -> None:
        """Forward the exchange without journaling it, and add the warning ``not_logged`` to its response."""

    def stop_logging(self) -> bool:
        """Stop journaling the exchange. Return whether it was journaled before."""

    def interrupt(self) -> None:
        """End the exchange because the relay stops."""

    def abandon(self) -> None:
        """End the exchange because journal frames were lost."""
