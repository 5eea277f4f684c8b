"""Replace secrets with fingerprints, because the journal must not contain keys. This module does no I/O."""

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from relaybook.relay.limits import MIN_SECRET_BYTES

_SCHEME: Final = re.compile(rb"(?i)(?:bearer|basic|digest|negotiate|hmac|aws4-hmac-sha256) +")
#: Query parameters whose name ends with one of these words. In this pattern, a name cannot contain ``?``. So each name
#: is scanned only once. Otherwise, a scan of 8 KiB of ``?-`` would take a second.
_SECRET_PARAMETER: Final = re.compile(
    rb"(?i)([?&](?:[^=&#?]*[-_.])?(?:(?:api|access|auth)?(?:key|token)|secret|signature|sig|password|credential)=)"
    rb"([^&#]*)"
)

#: Longer values are not cached, because clients choose the values and thousands of long values would stay in memory.
_MAX_CACHED_BYTES: Final = 4096


class Fingerprints:
    """Map secrets to 12 hex digits. Equal secrets get equal digits, and the digits do not reveal the secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._cached_of: Callable[[bytes], str] = lru_cache(4096)(self._of)
        self._cached_line: Callable[[bytes], bytes] = lru_cache(4096)(self._line)

    def of(self, value: bytes) -> str:
        """Return the fingerprint of a secret."""
        return self._cached_of(value) if len(value) <= _MAX_CACHED_BYTES else self._of(value)

    def line(self, line: bytes) -> bytes:
        """Return a header line with a fingerprint instead of its value.

        The scheme of an Authorization header is kept.
        """
        return self._cached_line(line) if len(line) <= _MAX_CACHED_BYTES else self._line(line)

    def _of(self, value: bytes) -> str:
        return hmac.digest(self._secret, value, hashlib.sha256).hex()[:12]

    def _line(self, line: bytes) -> bytes:
        name, _, value = line.partition(b":")
        value = value.strip()
        scheme = _SCHEME.match(value) if name.lower() in (b"authorization", b"proxy-authorization") else None
        scheme_text = scheme[0] if scheme else b""
        return b"%b: %bkey:%b" % (name, scheme_text, self.of(value[len(scheme_text) :]).encode())

    def target(self, target: bytes) -> bytes:
        """Return a request target with fingerprints instead of the values of secret query parameters."""
        return _SECRET_PARAMETER.sub(lambda match: match[1] + b"key:" + self.of(match[2]).encode(), target)


def keys_in(target: bytes) -> list[bytes]:
    """Return the values of a target's secret query parameters.

    Values shorter than ``MIN_SECRET_BYTES`` are left out.
    """
    return [value for _, value in _SECRET_PARAMETER.findall(target) if len(value) >= MIN_SECRET_BYTES]
