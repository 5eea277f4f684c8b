"""A child's connection to its supervisor: its end means that the supervisor is gone."""

import os


def is_cut(descriptor: int) -> bool:
    """Waits for a byte or the end. One that died before it read what we had said resets the connection."""
    try:
        return not os.read(descriptor, 1)
    except ConnectionResetError:
        return True
