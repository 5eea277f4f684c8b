"""Decide which web pages may use a relay that listens on a loopback address.

Any web page can make a browser send requests to this machine. A simple POST needs no permission, so a page of another
site could spend the time of a local model that needs no key. Browsers say which page sent a request: in ``Origin``, or
for images and links in ``Sec-Fetch-Site`` (Fetch standard, Fetch Metadata). Other programs send neither header.
"""

import re
from typing import Final

from relaybook.errors import RelayError
from relaybook.relay.cors import Cors
from relaybook.relay.request_head import HeadRefused, RequestHead

#: Only digits match after 127, because anyone can register a name such as 127.0.0.1.example.
_LOOPBACK: Final = re.compile(
    rb"(?i)(?:[a-z0-9_-]+\.)*localhost\.?|127(?:\.\d{1,10}){1,3}|\[::1\]|\[::ffff:127(?:\.\d{1,3}){3}\]"
)
#: The scheme, the host and the port of an origin.
_ORIGIN: Final = re.compile(rb"(?i)(https?)://([^/:@\[\]]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
_SCHEME: Final = re.compile(rb"(?i)https?:|null$")


def is_loopback_name(host: bytes) -> bool:
    """Return whether a host, as in a URL and without port, always means this machine."""
    return _LOOPBACK.fullmatch(host) is not None


def is_of_this_machine(origin: bytes, fetch_site: bytes) -> bool:
    """Return whether a request does not come from a web page of another site. The arguments are its headers.

    Pages of desktop programs and browser extensions, whose origins have other schemes, such as ``app://``, are of this
    machine.
    """
    if not origin:
        return fetch_site.lower() != b"cross-site"
    if not _SCHEME.match(origin):
        return True
    found = _ORIGIN.fullmatch(origin)
    return found is not None and is_loopback_name(found[2])


def check_origin(head: RequestHead, cors: Cors | None) -> None:
    """Raise HeadRefused if the request comes from a web page of another site that ``cors`` does not allow."""
    origin = head.origin
    if is_of_this_machine(origin, head.fetch_site) or (cors is not None and cors.allows(origin)):
        return
    shown = origin[:80].decode("latin-1") or "another site"
    example = shown.lower() if _ORIGIN.fullmatch(origin) else "https://app.example"
    raise HeadRefused(
        RelayError.ORIGIN_NOT_ALLOWED,
        f"The request comes from a web page of {shown}, and this relay only serves pages of this machine. To allow "
        f"pages of another origin, start the relay with --cors-origins {example}.",
    )
