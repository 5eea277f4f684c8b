"""Starts processes of the service at once: forks them from one that has imported everything they need.

A process of its own: ``python -m tests.crash.forks CONTROL``, with the descriptor of a connected unix socket. It takes
one message at a time and answers each: ``start`` with three descriptors (orders, standard error, listener) by the new
process's id, ``wait ID`` by its exit code (the signal's number, negative). It ends when the socket does.

The child runs what the supervisor's children run, ``relaybook.server.child``; all that differs is who imported it. It
waits for its orders, so a tracer can be put beside it before it does anything.
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

#: The number under which a child finds its listening socket.
LISTENER: Final = 10
_PR_SET_PTRACER: Final = 0x59616D61
_ANYBODY: Final = -1


def main(control: socket.socket) -> int:
    """Serves until the other end closes; in a child: does its role's work. The exit code."""
    while True:
        message, descriptors = _receive(control)
        if message == "start":
            pid = os.fork()
            if pid == 0:
                control.close()
                return _be_child(descriptors)
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


def _be_child(descriptors: list[int]) -> int:
    for descriptor, number in zip(descriptors, (0, 2, LISTENER), strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    vars(ids.new_id).update(vars(ids.IdMaker()))  # else all children would draw the same numbers
    with suppress(AttributeError):  # a system without that call asks for no such leave
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY)
    return child.main()


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1]))))
