"""Define the errors and exit codes of commands. ``relaybook.settings`` defines the exit code ``BAD_SETTINGS``."""

from typing import Final

FAILED: Final = 1
#: The exit code after Ctrl+C, as shells report it.
INTERRUPTED: Final = 130


class CommandFailed(Exception):
    """The command failed. The message is one line that gives the reason and the next step."""


class BadArgument(ValueError):
    """An argument is invalid. The message says what is expected."""
