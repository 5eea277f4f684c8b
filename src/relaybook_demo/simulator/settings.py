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
    """0 lets the system choose a free port."""

    first_token_ms: float = 0.0
    """Delay before the first event of a stream, or before a response that is not streamed."""

    tokens_per_second: float = 0.0
    """Speed after the first token; 0 is unlimited. Other responses are delayed by the time a stream would take."""

    response_headers: HeaderSet = "few"

    ledger_mode: LedgerMode = "full"
    """``digest`` stores no bodies, ``off`` stores nothing."""

    ledger_keep: int | None = None
    """Maximum number of entries in memory; the oldest are dropped. `None` means no limit."""

    ledger_file: Path | None = None
    """Also append every entry to this file, as one line."""
