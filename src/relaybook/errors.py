"""Every error the relay itself can answer with: its code and its HTTP status (one declaration each)."""

from enum import Enum


class RelayError(Enum):
    """A refusal or failure in the relay's own name; the provider's errors pass through untouched.

    The value is ``(code, HTTP status)``. Messages are written where the refusal happens, because they name the value
    and the limit; the code is for programs.
    """

    BAD_REQUEST = ("bad_request", 400)
    NOT_FOUND = ("not_found", 404)
    METHOD_NOT_ALLOWED = ("method_not_allowed", 405)
    REQUEST_TIMEOUT = ("request_timeout", 408)
    REQUEST_TOO_LARGE = ("request_too_large", 413)
    URI_TOO_LONG = ("uri_too_long", 414)
    EXPECTATION_FAILED = ("expectation_failed", 417)
    HEADERS_TOO_LARGE = ("headers_too_large", 431)
    NOT_SUPPORTED = ("not_supported", 501)
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
        """The ``error.code`` a caller sees."""
        return self.value[0]

    @property
    def status(self) -> int:
        """The HTTP status a caller sees; for a stream already begun it is never sent."""
        return self.value[1]
