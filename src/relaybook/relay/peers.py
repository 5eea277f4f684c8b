"""The two sides of an exchange, as it sees them: what it may ask of a caller's and of a provider's connection."""

from typing import Protocol


class Caller(Protocol):
    """A caller's connection while it has this exchange."""

    keep_alive: bool
    version_1_0: bool
    #: A broken answer ends with a reset, because its end alone would look like a clean one.
    reset_on_cut: bool
    #: Bytes queued behind the journal.
    held: int
    reading: bool

    def send(self, data: bytes) -> None:
        """Queues bytes of the answer behind the journal."""

    def feed_when(self, wanted: bool) -> None:
        """Reads from the caller, or lets it wait."""

    def handed_over(self, _: bytes) -> None:
        """Behind the journal: ends the exchange once the kernel has the answer's last byte."""

    def cut(self, _: bytes) -> None:
        """Behind the journal: ends a broken answer."""

    def abandon(self) -> None:
        """Resets the connection now; the exchange hears no more of it."""


class Provider(Protocol):
    """A provider's connection while it has this exchange."""

    held: int
    reading: bool
    write_paused: bool
    #: When it last sent something, on the relay's clock.
    heard: float

    def send(self, data: bytes) -> None:
        """Queues bytes of the request behind the journal."""

    def feed_when(self, wanted: bool) -> None:
        """Reads from the provider, or lets it wait."""

    def stalled(self, now: float, seconds: float) -> bool:
        """Whether the provider took nothing of what waits for it for so long."""

    def finished(self, *, reusable: bool) -> None:
        """The exchange is done with it: kept for the next one, or closed."""

    def abort(self) -> None:
        """Closes at once; the exchange hears no more of it."""
