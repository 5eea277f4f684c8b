"""Interfaces of the client and upstream connections, as an exchange uses them."""

from typing import Protocol


class Dial(Protocol):
    """A connection to the upstream that is being established."""

    def cancel(self) -> object:
        """Stop dialing. No method of the exchange is called."""


class Client(Protocol):
    """The client connection of an exchange."""

    keep_alive: bool
    version_1_0: bool
    #: Whether a broken response must end with a reset, because a closed connection would look like a clean end.
    reset_on_cut: bool
    #: Number of bytes that wait for the journal.
    queued_bytes: int
    reading: bool

    def send(self, data: bytes) -> None:
        """Send response bytes once the journal has all frames up to now."""

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading from the client."""

    def response_sent(self, _: bytes) -> None:
        """End the exchange once the kernel has the last byte of the response. Called by the gate."""

    def cut(self, _: bytes) -> None:
        """End a broken response. Called by the gate."""

    def abandon(self) -> None:
        """Reset the connection now. The exchange gets no further calls from it."""


class Upstream(Protocol):
    """The upstream connection of an exchange."""

    queued_bytes: int
    reading: bool
    write_paused: bool
    #: When bytes were last received, in loop time.
    last_received_at: float

    def send(self, data: bytes) -> None:
        """Send request bytes once the journal has all frames up to now."""

    def set_reading(self, enabled: bool) -> None:
        """Start or stop reading from the upstream."""

    def stalled(self, now: float, seconds: float) -> bool:
        """Return whether the upstream accepted none of the pending bytes for ``seconds``."""

    def finished(self, *, reusable: bool) -> None:
        """Release the connection from its exchange: put it into the pool, or close it."""

    def abort(self) -> None:
        """Close the connection now. The exchange gets no further calls from it."""
