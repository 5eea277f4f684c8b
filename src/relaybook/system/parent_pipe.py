"""The pipe from a child process to the supervisor. The pipe closes when the supervisor ends."""

import os


def is_closed(descriptor: int) -> bool:
    """Wait for a byte, or for the pipe to close. Return whether the pipe is closed.

    The pipe is a socket pair. If the supervisor ends before it has read all bytes from this process, the connection is
    reset. A reset counts as closed.
    """
    try:
        return not os.read(descriptor, 1)
    except ConnectionResetError:
        return True
