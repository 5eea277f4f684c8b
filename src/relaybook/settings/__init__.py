"""Declare settings once (``definitions``) and read them from flags, environment variables, a file or defaults."""

from typing import Final

#: The exit code of a command, or of a process of the server, if its settings are wrong.
BAD_SETTINGS: Final = 2


class BadSetting(ValueError):
    """A setting is invalid. ``name`` is the name of the setting. The message is one line that says what to change."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
