"""Fork processes of the service quickly from a process that has already imported their modules.

This module runs as a separate process: ``python -m tests.crash.forks CONTROL``. CONTROL is the descriptor of a
connected Unix socket. The process handles one message at a time. ``start`` comes with three descriptors (configuration,
standard error, listener) and returns the pid of the new process. ``wait PID`` returns the exit code of that process,
which is negative for a signal. The process ends when the socket is closed.

Each child runs ``relaybook.server.child``, like the supervisor's children. A child first waits for its configuration,
so that a tracer can be attached before the child does anything else.
"""

import array
import ctypes
import os
import socket
import sys
from contextlib import suppress
from typing import Final

from relaybook import ids
from relaybook.server import child

#: The descriptor of a child's listening socket.
LISTENER: Final = 10
_PR_SET_PTRACER: Final = 0x59616D61
_ANY_PROCESS: Final = -1


def main(control: socket.socket) -> int:
    """Handle messages until the socket is closed. A child runs its role instead. Returns the exit code."""
    while True:
        message, descriptors = _receive(control)
        if message == "start":
            pid = os.fork()
            if pid == 0:
                control.close()
                return _run_child(descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            control.send(b"%d" % pid)
        elif message:
            _, status = os.waitpid(int(message.removeprefix("wait ")), 0)
            control.send(b"%d" % os.waitstatus_to_exitcode(status))
        else:
            return 0


def _receive(control: socket.socket) -> tuple[str, list[int]]:
    descriptors = array.array("i")
    data, ancillary, _, _ = control.recvmsg(64, socket.CMSG_LEN(3 * descriptors.itemsize))
    for _, _, passed in ancillary:
        descriptors.frombytes(passed)
    return data.decode(), list(descriptors)


def _run_child(descriptors: list[int]) -> int:
    for descriptor, number in zip(descriptors, (0, 2, LISTENER), strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    vars(ids.new_id).update(vars(ids.IdMaker()))  # otherwise all children would generate the same ids
    with suppress(AttributeError):  # a system without prctl needs no permission to trace
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY_PROCESS)
    return child.main()


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1]))))
