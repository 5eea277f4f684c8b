"""The main program of a child process: reads its orders from standard input and does its role's work."""

import os
import signal
import sys

import msgspec

from relaybook.server.roles import run_role
from relaybook.server.worker_config import decode_config


def main() -> int:
    """Runs one role; standard input stays open as the sign that the supervisor lives."""
    with os.fdopen(0, "rb", buffering=0, closefd=False) as supervisor:
        line = supervisor.readline()
    if not line.endswith(b"\n"):
        return 0  # the supervisor is gone before it could say what to do
    try:
        return run_role(decode_config(line), 0)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # we are leaving: another word to leave must not become the exit code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except msgspec.DecodeError as error:
        sys.exit(f"relaybook: a child process got orders it cannot read: {error}")
