"""``relaybook simulate``: run the simulated upstream until it is stopped."""

from pathlib import Path
from typing import Final

from relaybook.cli.failure import BadArgument
from relaybook.server.listening import bind_error
from relaybook.settings.addresses import split_address
from relaybook.settings.configuration import flag_of
from relaybook_demo.simulator import SimulatorSettings, run

#: Number of ledger entries (events of the simulated upstream) kept in memory. A ledger file contains all entries.
_LEDGER_KEEP: Final = 1000


def simulate(listen: str, first_token_ms: float, tokens_per_second: float, ledger: Path | None) -> int:
    """Run the simulated upstream until it is stopped.

    Raises BadSetting or BadArgument if an argument is invalid or the port is in use.
    """
    host, port = split_address(listen, "listen")
    for name, value in (("first_token_ms", first_token_ms), ("tokens_per_second", tokens_per_second)):
        if not 0 <= value < 1e9:
            raise BadArgument(f"{flag_of(name)} is {value}: expected 0 or a larger number.")
    settings = SimulatorSettings(
        host=host,
        port=port,
        first_token_ms=first_token_ms,
        tokens_per_second=tokens_per_second,
        ledger_keep=_LEDGER_KEEP,
        ledger_file=ledger,
    )
    try:
        run(settings)
    except OSError as error:
        raise BadArgument(bind_error(listen, "listen", error)) from None
    return 0
