import os
import socket

from relaybook.parent_pipe import is_cut


def test_its_end_is_told_and_a_byte_is_not_the_end() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(b"x")
    assert not is_cut(ours.fileno())
    theirs.close()
    assert is_cut(ours.fileno())
    ours.close()


def test_one_that_died_with_our_word_unread_is_gone_too() -> None:
    ours, theirs = socket.socketpair()
    ours.sendall(b"ready")
    theirs.close()
    assert is_cut(ours.fileno())
    ours.close()


def test_a_pipe_will_do() -> None:
    end, other = os.pipe()
    os.close(other)
    assert is_cut(end)
    os.close(end)
