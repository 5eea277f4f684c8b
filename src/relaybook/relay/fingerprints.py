"""Replaces secrets by fingerprints: what the journal may hold of a key. Pure."""

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from relaybook.relay.limits import SHORTEST_SECRET

_SCHEME: Final = re.compile(rb"(?i)(?:bearer|basic|digest|negotiate|hmac|aws4-hmac-sha256) +")
#: Query parameters whose name ends with one of these words. A name holds no ?, so that each is looked through once:
#: 8 KiB of ?- took a second.
_SECRET_PARAMETER: Final = re.compile(
    rb"(?i)([?&](?:[^=&#?]*[-_.])?(?:(?:api|access|auth)?(?:key|token)|secret|signature|sig|password|credential)=)"
    rb"([^&#]*)"
)

#: Longer ones, which callers choose, would stay in memory by the thousand.
_REMEMBERED_BYTES: Final = 4096


class Fingerprints:
    """Turns secrets into 12 hex digits that tell them apart and give nothing away."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._known: Callable[[bytes], str] = lru_cache(4096)(self._of)
        self._known_line: Callable[[bytes], bytes] = lru_cache(4096)(self._line)

    def of(self, value: bytes) -> str:
        """The fingerprint of a secret."""
        return self._known(value) if len(value) <= _REMEMBERED_BYTES else self._of(value)

    def line(self, line: bytes) -> bytes:
        """A header line with its whole value replaced; only the scheme of an Authorization stays."""
        return self._known_line(line) if len(line) <= _REMEMBERED_BYTES else self._line(line)

    def _of(self, value: bytes) -> str:
        return hmac.digest(self._secret, value, hashlib.sha256).hex()[:12]

    def _line(self, line: bytes) -> bytes:
        name, _, value = line.partition(b":")
        value = value.strip()
        scheme = _SCHEME.match(value) if name.lower() in (b"authorization", b"proxy-authorization") else None
        kept = scheme[0] if scheme else b""
        return b"%b: %bkey:%b" % (name, kept, self.of(value[len(kept) :]).encode())

    def target(self, target: bytes) -> bytes:
        """A request target with the values of secret query parameters replaced."""
        return _SECRET_PARAMETER.sub(lambda found: found[1] + b"key:" + self.of(found[2]).encode(), target)


def keys_in(target: bytes) -> list[bytes]:
    """Values of secret query parameters of a request target, long enough to be told from words."""
    return [value for _, value in _SECRET_PARAMETER.findall(target) if len(value) >= SHORTEST_SECRET]
