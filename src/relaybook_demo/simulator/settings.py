"""What a simulated provider can be told at its start."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LedgerMode = Literal["off", "digest", "full"]
HeaderSet = Literal["few", "openai"]


@dataclass(frozen=True, slots=True)
class SimulatorSettings:
    """Defaults answer at once; everything about one answer can be changed by that request (see ``directives``)."""

    host: str = "127.0.0.1"
    port: int = 0
    """0: the system chooses one."""

    first_token_ms: float = 0.0
    """Wait before the first event of a stream, or before a whole answer."""

    tokens_per_second: float = 0.0
    """Speed after the first token; 0: as fast as it goes. A whole answer waits as long as its stream would take."""

    response_headers: HeaderSet = "few"

    ledger_mode: LedgerMode = "full"
    """``digest`` keeps no bodies, ``off`` keeps nothing."""

    ledger_keep: int | None = None
    """Entries kept in memory, the oldest dropped first; None: all of them."""

    ledger_file: Path | None = None
    """Every entry is appended here as one line, too."""
