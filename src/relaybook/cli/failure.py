"""The errors a command ends with, and the exit code of each."""

from typing import Final

BAD_SETTINGS: Final = 2
FAILED: Final = 1


class CommandFailed(Exception):
    """The command cannot do its work; the text is one line that says why and what to do."""


class BadArgument(ValueError):
    """An argument that cannot be meant; the text says what is right."""
