"""Limits for messages that are not settings."""

from typing import Final

KIB: Final = 1 << 10

#: Bytes in a request line (RFC 9112 §3 requires support for at least 8,000).
MAX_REQUEST_LINE: Final = 8 * KIB
#: Bytes in one header line, bytes in all header lines of a message, and the number of header lines.
MAX_HEADER_LINE: Final = 32 * KIB
MAX_HEADERS_BYTES: Final = 64 * KIB
MAX_HEADERS: Final = 100
#: Bytes in a Content-Length value with its white space: 2⁶³ has 19 digits, and Python parses at most 4,300.
MAX_LENGTH_BYTES: Final = 64
MAX_HEAD: Final = MAX_REQUEST_LINE + MAX_HEADERS_BYTES
#: Bytes of chunk framing between two body bytes: an extension, or all trailers.
MAX_FRAMING_RUN: Final = 9 * KIB
#: Bytes of chunk framing in a whole message: a base, plus this number for each body byte.
FRAMING_BASE: Final = 16 * KIB
FRAMING_RATIO: Final = 8
#: Number of informational responses (1xx) before the final one.
MAX_INFORMATIONAL: Final = 8
#: Bytes of one read from a socket. Also the number of buffered bytes at which reading from the sender is paused.
READ_BYTES: Final = 64 * KIB
#: Number of bytes and seconds for which input is read and discarded after a response that ends the connection.
LINGER_BYTES: Final = 256 * KIB
LINGER_SECONDS: Final = 2.0
#: The minimum rate of a request body after ``body_timeout``, in bytes per second.
MIN_BODY_RATE: Final = 1 * KIB
#: Number of warnings in the headers of a response; the record has all warnings.
MAX_WARNING_HEADERS: Final = 32
#: Shorter keys are words such as "none" or "ollama", not secrets, and are not masked in bodies.
MIN_SECRET_BYTES: Final = 8
