"""What the streams of all formats share: how they ended, and their first error."""

from typing import Any

from relaybook.log.formats.conversation import Error, Response
from relaybook.log.formats.provider_errors import describe_error, find_error


class BaseStream:
    """The events of a response so far. A whole response is one event."""

    def __init__(self) -> None:
        #: Whether the end mark of the format arrived.
        self.has_end_mark = False
        #: Whether any generated text or call arrived.
        self.has_token = False
        #: Whether any event has a field of this API.
        self.is_known = False
        self._error: Error | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the end mark arrived. Some formats also end with a finish reason."""
        return self.has_end_mark

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event. ``name`` is the name of the server-sent event."""
        raise NotImplementedError

    def response(self) -> Response:
        """Return everything added so far."""
        raise NotImplementedError

    def add_error(self, event: dict[str, Any], name: str = "") -> None:
        """Set the error of an event, if the event has one and there is none yet."""
        if self._error is None:
            self._error = find_error(event, has_output=self._has_output(event))
            if self._error is None and name == "error":
                self._error = self._error_of(event)

    def add_error_text(self, text: str) -> None:
        """Set the text of an event with the name ``error`` as the error, if there is none yet."""
        self._error = self._error or describe_error(text)

    def _has_output(self, event: dict[str, Any]) -> bool:
        """Return whether there is output, so that only a field ``error`` is an error."""
        return self.is_known

    def _error_of(self, event: dict[str, Any]) -> Error:
        """Return the error of an event with the name ``error``."""
        return describe_error(event)
