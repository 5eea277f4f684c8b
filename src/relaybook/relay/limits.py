"""Limits of the wire that are not settings: what one message may cost before it is refused."""

from typing import Final

KIB: Final = 1 << 10

#: Request line (RFC 9112 §3 asks for 8,000 octets at least).
MAX_REQUEST_LINE: Final = 8 * KIB
#: One header line; all header lines of a message; how many of them.
MAX_HEADER_LINE: Final = 32 * KIB
MAX_HEADERS_BYTES: Final = 64 * KIB
MAX_HEADERS: Final = 100
#: A Content-Length with its white space: 2⁶³ has 19 digits, and Python reads no number of more than 4,300.
LONGEST_LENGTH: Final = 64
MAX_HEAD: Final = MAX_REQUEST_LINE + MAX_HEADERS_BYTES
#: Bytes of chunk framing between two body bytes: an extension or all trailers.
MAX_FRAMING_RUN: Final = 9 * KIB
#: Framing a message may spend in all: a base, and this many bytes for each of its body.
FRAMING_BASE: Final = 16 * KIB
FRAMING_RATIO: Final = 8
#: Informational answers before the final one.
MAX_INFORMATIONAL: Final = 8
#: One read from a socket; also where the source of a slow destination is paused.
READ_BYTES: Final = 64 * KIB
#: Of a caller's rest after an answer that ends the connection: bytes and seconds that are read and thrown away.
LINGER_BYTES: Final = 256 * KIB
LINGER_SECONDS: Final = 2.0
#: A body must arrive at this pace once it has run for the body timeout: bytes per second.
SLOWEST_BODY: Final = 1 * KIB
#: Warnings told in an answer's headers; the record has all of them.
MAX_WARNING_HEADERS: Final = 32
#: Keys shorter than this are words such as "none" or "ollama", not secrets, and are not masked in bodies.
SHORTEST_SECRET: Final = 8
