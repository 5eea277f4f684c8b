"""Fixed limits for HTTP messages. No setting changes these limits."""

from typing import Final

KIB: Final = 1 << 10

#: The maximum number of bytes in a request line. RFC 9112 §3 requires support for at least 8,000.
MAX_REQUEST_LINE: Final = 8 * KIB
#: The maximum number of bytes in one header line.
MAX_HEADER_LINE: Final = 32 * KIB
#: The maximum number of bytes in all header lines. In a request with a short request line, the header lines may be
#: longer, because only the whole head is limited (``MAX_HEAD``).
MAX_HEADERS_BYTES: Final = 64 * KIB
#: The maximum number of header lines.
MAX_HEADERS: Final = 100
#: The maximum number of bytes in a Content-Length value, including white space. Numbers up to 2⁶³ fit, because they
#: have at most 19 digits. The limit is needed, because Python does not parse numbers of more than 4,300 digits.
MAX_LENGTH_BYTES: Final = 64
MAX_HEAD: Final = MAX_REQUEST_LINE + MAX_HEADERS_BYTES
#: The maximum number of consecutive bytes of chunk framing, for example of an extension or of all trailers.
MAX_FRAMING_RUN: Final = 9 * KIB
#: A message may have ``FRAMING_BASE`` bytes of chunk framing, plus ``FRAMING_RATIO`` bytes for each body byte.
FRAMING_BASE: Final = 16 * KIB
FRAMING_RATIO: Final = 8
#: The maximum number of informational responses (1xx) before the final response.
MAX_INFORMATIONAL: Final = 8
#: The maximum number of bytes in one read from a socket. While more bytes than this wait to be sent to one peer,
#: reading from the other peer is paused.
READ_BYTES: Final = 64 * KIB
#: After a response that ends the connection, at most this many bytes of input are read and discarded.
LINGER_BYTES: Final = 256 * KIB
#: Reading and discarding stops after this many seconds.
LINGER_SECONDS: Final = 2.0
#: If a request body takes longer than ``body_timeout``, this many bytes must have arrived for each further second.
MIN_BODY_RATE: Final = 1 * KIB
#: The maximum number of warnings in the headers of a response. The record has all warnings.
MAX_WARNING_HEADERS: Final = 32
#: Shorter keys are masked only where they are sent as a key, because they are words such as "none" or "ollama".
MIN_KEY_BYTES: Final = 8
#: Shorter keys are masked only in headers and the query, because they are words such as "anything" and not secrets.
MIN_SECRET_BYTES: Final = 16
