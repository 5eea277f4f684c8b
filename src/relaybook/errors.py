"""Define the relay's errors, each with its code and HTTP status."""

from enum import Enum
from typing import Final

#: The beginning of the message of an exchange whose upstream reset its connection instead of closing it.
UPSTREAM_DID_RESET: Final = "The upstream reset the connection"


class RelayError(Enum):
    """An error response of the relay. Errors of the upstream are passed through unchanged.

    The value is ``(code, HTTP status)``. The code is for programs. The message is composed where the error occurs,
    because the message names details of the request, such as a size and its limit.
    """

    BAD_REQUEST = ("bad_request", 400)
    ORIGIN_NOT_ALLOWED = ("origin_not_allowed", 403)
    NOT_FOUND = ("not_found", 404)
    METHOD_NOT_ALLOWED = ("method_not_allowed", 405)
    REQUEST_TIMEOUT = ("request_timeout", 408)
    REQUEST_TOO_LARGE = ("request_too_large", 413)
    URI_TOO_LONG = ("uri_too_long", 414)
    EXPECTATION_FAILED = ("expectation_failed", 417)
    UPGRADE_REQUIRED = ("upgrade_required", 426)
    HEADERS_TOO_LARGE = ("headers_too_large", 431)
    VERSION_NOT_SUPPORTED = ("version_not_supported", 505)
    UPSTREAM_UNREACHABLE = ("upstream_unreachable", 502)
    UPSTREAM_RESET = ("upstream_reset", 502)
    UPSTREAM_PROTOCOL_ERROR = ("upstream_protocol_error", 502)
    UPSTREAM_TIMEOUT = ("upstream_timeout", 504)
    UPSTREAM_STREAM_INTERRUPTED = ("upstream_stream_interrupted", 502)
    OVERLOADED = ("overloaded", 503)
    LOG_UNAVAILABLE = ("log_unavailable", 503)
    SHUTTING_DOWN = ("shutting_down", 503)

    @property
    def code(self) -> str:
        """The value of ``error.code`` in the response."""
        return self.value[0]

    @property
    def status(self) -> int:
        """The HTTP status of the response. The status is not sent if the response has already started."""
        return self.value[1]
