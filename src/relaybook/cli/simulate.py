"""``relaybook simulate``: runs the simulated provider until it is stopped."""

from pathlib import Path
from typing import Final

from relaybook.cli.failure import BadArgument
from relaybook.server.listening import why_not
from relaybook.settings.configuration import flag_of
from relaybook.settings.definitions import split_address
from relaybook_demo.simulator import SimulatorSettings, run

#: Requests it remembers; the file, if one is named, gets all of them.
_REMEMBERED: Final = 1000


def simulate(listen: str, first_token_ms: float, tokens_per_second: float, ledger: Path | None) -> int:
    """Raises BadSetting or BadArgument for what cannot be meant, a taken port among it."""
    host, port = split_address(listen, "listen")
    for name, value in (("first_token_ms", first_token_ms), ("tokens_per_second", tokens_per_second)):
        if not 0 <= value < 1e9:
            raise BadArgument(f"{flag_of(name)} is {value}: it takes a number from 0 on.")
    settings = SimulatorSettings(
        host=host,
        port=port,
        first_token_ms=first_token_ms,
        tokens_per_second=tokens_per_second,
        ledger_keep=_REMEMBERED,
        ledger_file=ledger,
    )
    try:
        run(settings)
    except OSError as error:
        raise BadArgument(why_not(listen, "listen", error)) from None
    return 0
