"""Decides which Host and Origin a request may have: what keeps web pages of other sites out (DNS rebinding, CSRF)."""

import re
from urllib.parse import urlsplit

from relaybook.api.options import LOOPBACK_NAMES, ApiOptions

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.ASCII)


def host_name(host: str) -> str | None:
    """The name in a Host header, lower case, without its port; None for anything that is not a host."""
    found = _HOST.fullmatch(host)
    return found[1].lower() if found else None


def is_host_allowed(host: str, options: ApiOptions) -> bool:
    """Whether the Host is a loopback name or the outside address's, with any port."""
    name = host_name(host)
    return name is not None and (name in LOOPBACK_NAMES or name == options.outside_host)


def is_origin_allowed(origin: str | None, fetch_site: str | None, host: str, options: ApiOptions) -> bool:
    """Whether a request that changes something comes from our own page or from no web page at all.

    Browsers send ``Sec-Fetch-Site`` or at least ``Origin``; programs send neither. A page on another port of the same
    host is another origin. A proxy may have replaced the Host, so the outside address's origin counts as ours too.
    """
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return False
    if origin is None:
        return True
    if options.dashboard_url is not None and origin.lower() == _origin(options.dashboard_url):
        return True
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _origin(url: str) -> str:
    parts = urlsplit(url.lower())
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
