"""Runs the simulated provider: ``python -m relaybook_demo.simulator``."""

import argparse
from pathlib import Path

from relaybook_demo.simulator.server import run
from relaybook_demo.simulator.settings import SimulatorSettings


def read_arguments(arguments: list[str] | None = None) -> SimulatorSettings:
    """The settings on a command line; argparse explains what is wrong and exits with 2."""
    parser = argparse.ArgumentParser(
        prog="relaybook_demo.simulator", description="A simulated provider: no key, no network."
    )
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="port 0: any free one")
    parser.add_argument("--first-token-ms", type=float, default=0.0, metavar="N")
    parser.add_argument("--tokens-per-second", type=float, default=0.0, metavar="N", help="0: as fast as it goes")
    parser.add_argument("--response-headers", choices=("few", "openai"), default="few")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="append what happens here, one JSON line each")
    parser.add_argument("--ledger-mode", choices=("off", "digest", "full"), default="full", help="full keeps bodies")
    parser.add_argument("--ledger-keep", type=int, metavar="N", help="entries kept in memory (all)")
    found = parser.parse_args(arguments)
    host, colon, port = found.listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        parser.error(f"--listen: {found.listen!r} should be HOST:PORT")
    return SimulatorSettings(
        host=host.strip("[]") or "127.0.0.1",
        port=int(port),
        first_token_ms=found.first_token_ms,
        tokens_per_second=found.tokens_per_second,
        response_headers=found.response_headers,
        ledger_mode=found.ledger_mode,
        ledger_keep=found.ledger_keep,
        ledger_file=found.ledger,
    )


if __name__ == "__main__":
    run(read_arguments())
