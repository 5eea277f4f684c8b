"""Keep keys out of the journal: replace them with fingerprints or asterisks. This module does no I/O."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

from relaybook.relay.limits import MIN_KEY_BYTES, MIN_SECRET_BYTES

_SCHEME: Final = re.compile(rb"(?i)(?:bearer|basic|digest|negotiate|hmac|aws4-hmac-sha256) +")
#: The name of a query parameter, with the ``=`` after it. A name cannot contain ``?``, so that each name is scanned
#: only once. Otherwise, the search in a target that repeats ``?-`` for 8 KiB would take a second.
_NAME: Final = re.compile(rb"[?&]([^=&#?]*)=")
_VALUE: Final = re.compile(rb"[^&#]*")
#: The values of parameters whose name ends with one of these words are secrets.
_SECRET_NAME: Final = re.compile(
    rb"(?is)(?:.*[-_.])?(?:(?:api|access|auth)?(?:key|token)|secret|signature|sig|password|credential)"
)
#: The names of these parameters whose values identify a client. Other secrets, such as signatures, differ per request.
_KEY_NAME: Final = re.compile(rb"(?is)(?:.*[-_.])?(?:api|access|auth)?key")
#: A WebSocket subprotocol whose last part is a key. Browsers cannot set other headers of a WebSocket.
_KEY_PROTOCOL: Final = re.compile(rb"[\w-]*(?:key|token)\.")
#: A key that can be a secret is long, and has a letter and a digit.
_SECRET: Final = re.compile(rb"(?s)(?=.*[A-Za-z\x80-\xff])(?=.*[0-9]).{%d}" % MIN_SECRET_BYTES)

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
        parts, done = [], 0
        for _, value in _secrets(target):
            parts += [target[done : value.start()], b"key:", self.of(value[0]).encode()]
            done = value.end()
        return b"".join([*parts, target[done:]])


def mask(data: bytes, keys: Iterable[bytes]) -> bytes:
    """Replace each byte of the keys with ``*``, in this order of keys."""
    for key in keys:
        if data.find(key) >= 0:  # ``in`` takes 1.5 times as long, because it first tries to convert key to an int
            data = data.replace(key, b"*" * len(key))
    return data


def can_be_secret(key: bytes) -> bool:
    """Return whether a key can be a secret. If not, the key is a word that may occur in any text.

    Clients send such words to upstreams that need no key, for example ``lmstudio`` or ``sk-no-key-required``.
    """
    return _SECRET.match(key) is not None


def keys_in(target: bytes) -> list[bytes]:
    """Return the values of a target's secret query parameters, as sent and percent-decoded.

    Values shorter than ``MIN_KEY_BYTES`` are left out.
    """
    keys = [key for _, value in _secrets(target) for key in dict.fromkeys((value[0], unquote_to_bytes(value[0])))]
    return [key for key in keys if len(key) >= MIN_KEY_BYTES]


def client_key_in(target: bytes) -> bytes | None:
    """Return the first API key in the query of a target, percent-decoded. `None` if there is none."""
    for name, value in _secrets(target):
        if value[0] and _KEY_NAME.fullmatch(unquote_to_bytes(name)):
            return unquote_to_bytes(value[0])
    return None


def protocol_key_in(protocol: bytes) -> bytes | None:
    """Return the key in a WebSocket subprotocol, as in ``openai-insecure-api-key.sk-…``. `None` if there is none."""
    found = _KEY_PROTOCOL.match(protocol)
    return (protocol[found.end() :] or None) if found else None


def _secrets(target: bytes) -> Iterator[tuple[bytes, re.Match[bytes]]]:
    """Yield the names and the values of the secret query parameters, in order.

    The value of a parameter that is not secret may contain a secret parameter, as in ``version=1?key=secret``.
    """
    at = 0
    while (name := _NAME.search(target, at)) is not None:
        at = name.end()
        if _is_secret_name(name[1]) and (value := _VALUE.match(target, at)) is not None:
            yield name[1], value
            at = value.end()


def _is_secret_name(name: bytes) -> bool:
    """Return whether a query parameter with this name has a secret value. The name may be percent-encoded."""
    return _SECRET_NAME.fullmatch(unquote_to_bytes(name) if b"%" in name else name) is not None
