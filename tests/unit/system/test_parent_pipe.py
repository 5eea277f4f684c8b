import os
import socket

from relaybook.system.parent_pipe import is_closed


def test_a_closed_pipe_is_detected_and_a_byte_is_not_a_close() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(b"x")
    assert not is_closed(ours.fileno())
    theirs.close()
    assert is_closed(ours.fileno())
    ours.close()


def test_a_connection_reset_with_unread_bytes_counts_as_closed() -> None:
    ours, theirs = socket.socketpair()
    ours.sendall(b"ready")
    theirs.close()
    assert is_closed(ours.fileno())
    ours.close()


def test_an_os_pipe_works_too() -> None:
    end, other = os.pipe()
    os.close(other)
    assert is_closed(end)
    os.close(end)
