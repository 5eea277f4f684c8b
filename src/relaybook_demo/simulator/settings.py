"""Declare the settings of the simulated upstream."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LedgerMode = Literal["off", "digest", "full"]
HeaderSet = Literal["few", "openai"]


@dataclass(frozen=True, slots=True)
class SimulatorSettings:
    """Settings for all responses. A request can change its own response with directives (see ``directives``).

    By default, responses are sent without delay.
    """

    host: str = "127.0.0.1"
    port: int = 0
    """The port to listen on. With 0, the system chooses a free port."""

    first_token_ms: float = 0.0
    """Delay before the first event of a stream, or before a response that is not streamed."""

    tokens_per_second: float = 0.0
    """Speed after the first token; 0 is unlimited.

    A response that is not streamed is delayed by the time that a stream would take.
    """

    response_headers: HeaderSet = "few"

    ledger_mode: LedgerMode = "full"
    """With ``digest``, the ledger stores no bodies. With ``off``, the ledger stores no entries."""

    ledger_keep: int | None = None
    """Maximum number of ledger entries in memory. The oldest entries are dropped. `None` means no limit."""

    ledger_file: Path | None = None
    """A file to which every ledger entry is also appended, as one line."""
