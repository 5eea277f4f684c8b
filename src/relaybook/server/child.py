"""Run one role of the server, such as ``relay``, in this child process. Read the configuration from standard input."""

import os
import signal
import sys

import msgspec

from relaybook.server.roles import run_role
from relaybook.server.worker_config import decode_config


def main() -> int:
    """Run the role that the configuration names, and return the exit code.

    Standard input stays open, so that the role notices when the supervisor dies or closes the connection.
    """
    # After `stty tostop`, SIGTTOU would suspend this process when it writes a warning to the terminal.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with os.fdopen(0, "rb", buffering=0, closefd=False) as supervisor_pipe:
        line = supervisor_pipe.readline()
    if not line.endswith(b"\n"):
        return 0  # the supervisor died before it sent the configuration
    try:
        return run_role(decode_config(line), 0)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # another signal must not change the exit code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except msgspec.DecodeError as error:
        sys.exit(f"relaybook: a child process received an invalid configuration: {error}")
