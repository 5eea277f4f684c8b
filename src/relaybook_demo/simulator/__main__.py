"""Run the simulated upstream: ``python -m relaybook_demo.simulator``."""

import argparse
from pathlib import Path

from relaybook_demo.simulator.server import run
from relaybook_demo.simulator.settings import SimulatorSettings


def read_arguments(arguments: list[str] | None = None) -> SimulatorSettings:
    """Parse a command line into settings. If the line is invalid, argparse prints the error and exits with status 2."""
    parser = argparse.ArgumentParser(
        prog="relaybook_demo.simulator", description="Run a simulated upstream without an API key or a network."
    )
    parser.add_argument(
        "--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="address to listen on; port 0 picks a free port"
    )
    parser.add_argument("--first-token-ms", type=float, default=0.0, metavar="N")
    parser.add_argument("--tokens-per-second", type=float, default=0.0, metavar="N", help="0 means unlimited")
    parser.add_argument("--response-headers", choices=("few", "openai"), default="few")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="append one JSON line per event to FILE")
    parser.add_argument(
        "--ledger-mode", choices=("off", "digest", "full"), default="full", help="full also stores the bodies"
    )
    parser.add_argument(
        "--ledger-keep", type=int, metavar="N", help="maximum number of events to keep in memory (default: no limit)"
    )
    parsed = parser.parse_args(arguments)
    host, colon, port = parsed.listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        parser.error(f"--listen: {parsed.listen!r} is not an address. Use HOST:PORT.")
    return SimulatorSettings(
        host=host.strip("[]") or "127.0.0.1",
        port=int(port),
        first_token_ms=parsed.first_token_ms,
        tokens_per_second=parsed.tokens_per_second,
        response_headers=parsed.response_headers,
        ledger_mode=parsed.ledger_mode,
        ledger_keep=parsed.ledger_keep,
        ledger_file=parsed.ledger,
    )


if __name__ == "__main__":
    run(read_arguments())
