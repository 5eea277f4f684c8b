"""Check and split addresses and base URLs: of listeners, clients, proxies and the upstream."""

import ipaddress
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from relaybook.settings import BadSetting

#: Values of ``upstream_proxy`` that are not URLs.
PROXY_FROM_ENVIRONMENT: Final = "environment"
NO_PROXY: Final = "none"
#: For each wildcard address, the loopback address of the same family.
_WILDCARDS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound here
_PORTS: Final = {"http": 80, "https": 443}
#: The first path segments of all URLs of the server that are not pages, such as the API and static files.
PROGRAM_SEGMENTS: Final = frozenset({"api", "v1", "metrics", "openapi.json", "healthz", "readyz", "assets"})
#: The first path segments of all URLs that show a view of the dashboard's page.
PAGE_SEGMENTS: Final = frozenset({"requests", "namespaces", "overview", "thread", "connect"})

_EXAMPLES: Final = {
    "upstream": "https://api.openai.com/v1",
    "relay_url": "https://llm.example.com/v1",
    "dashboard_url": "https://log.example.com",
}


#: The parts of an origin, or of a URL that contains an origin. A user name and password before the host are ignored.
_ORIGIN: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#]*@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^:/?#@\[\]]*)(?::(?P<port>\d{0,5}|\*))?"
    r"(?:[/?#].*)?"
)
_DOMAIN: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?")


def split_address(text: str, name: str) -> tuple[str, int]:
    """Split ``host:port``. An IPv6 host is in brackets, which are removed. Raises BadSetting."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    is_valid_host = _is_host(bare) and not (":" in bare and bare == host)
    if not (colon and is_valid_host and port.isascii() and port.isdigit()):
        raise BadSetting(name, f"{name} is {text!r}: expected host:port, such as 127.0.0.1:4100.")
    if int(port) > 65535:
        raise BadSetting(name, f"{name} is {text!r}. The largest port is 65535.")
    return bare, int(port)


def _is_host(text: str) -> bool:
    """Return whether the text can be a host name or an address."""
    try:
        return text.isprintable() and bool(text.encode("idna"))
    except UnicodeError:
        return False


def host_for_clients(host: str) -> str:
    """Return the host for clients on this machine: the loopback address if ``host`` is a wildcard address."""
    return _WILDCARDS.get(host, host)


def is_loopback(host: str) -> bool:
    """Return whether the host is ``localhost`` or a loopback address, which only this machine can reach."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_proxies(trusted_proxies: Sequence[str]) -> None:
    """Raise BadSetting if one of the proxies is neither an address nor a network."""
    for each in trusted_proxies:
        try:
            ipaddress.ip_network(each, strict=False)
        except ValueError:
            raise BadSetting(
                "trusted_proxies",
                f"trusted_proxies has {each!r}: expected an address such as 10.0.0.7, or a network such as 10.0.0.0/8.",
            ) from None


def check_origins(origins: Sequence[str]) -> None:
    """Raise BadSetting if an origin would never match, because no browser sends it in this form.

    ``https://*.app.example`` means all subdomains, ``http://localhost:*`` means all ports, and ``*`` means all origins.
    """
    for each in origins:
        right = "*" if each == "*" else _origin_of(each)
        if right == each:
            continue
        shown = "an origin with a user name or password" if "@" in each else repr(each)
        if right is not None:
            raise BadSetting(
                "cors_origins", f"cors_origins has {shown}: expected an origin as browsers send it. Write {right}."
            )
        raise BadSetting(
            "cors_origins",
            f"cors_origins has {shown}: expected an origin such as https://app.example, https://*.app.example for all "
            "subdomains, http://localhost:* for all ports, or * for all origins.",
        )


def _origin_of(text: str) -> str | None:
    """Return the origin of a URL as browsers send it, or `None` if the text is not a URL with an origin.

    If the text is a host without a scheme, the scheme is http for a loopback host, and https for other hosts.
    """
    text = text.strip().removeprefix("//")
    if "://" not in text:
        host = text.partition("/")[0].partition(":")[0]
        if "@" in text or not ("." in host or is_loopback(host)):
            return None
        text = f"{'http' if is_loopback(host) else 'https'}://{text}"
    parts = _ORIGIN.fullmatch(text)
    if parts is None:
        return None
    scheme, port = parts["scheme"].lower(), parts["port"] or ""
    origin_host = _host_in_origin(scheme, parts["host"].lower())
    if origin_host is None or (port.isdigit() and not 0 < int(port) <= 65535):
        return None
    if port.isdigit():
        port = "" if int(port) == _PORTS.get(scheme) else str(int(port))
    return f"{scheme}://{origin_host}:{port}" if port else f"{scheme}://{origin_host}"


def _host_in_origin(scheme: str, host: str) -> str | None:
    """Return the host as browsers write it in an origin, or `None` if the host is invalid."""
    if scheme not in _PORTS:  # for example app://obsidian.md or file://
        return host if _DOMAIN.fullmatch(host) or (scheme, host) == ("file", "") else None
    star = "*." if host.startswith("*.") else ""
    host = host.removeprefix(star)
    try:
        if host.startswith("["):
            return None if star else f"[{ipaddress.IPv6Address(host[1:-1])}]"
        if host.rstrip(".").rpartition(".")[2].isdigit():  # browsers read such a host as an IPv4 address
            return None if star else str(ipaddress.IPv4Address(host))
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return None
    return star + host if _DOMAIN.fullmatch(host) else None


def check_upstream(upstream: str, listen: str) -> None:
    """Raise BadSetting if the upstream is the relay itself, because the relay would send requests to itself."""
    parts = urlsplit(upstream)
    listen_host, port = split_address(listen, "listen")
    hosts = {host_for_clients((parts.hostname or "").lower()), host_for_clients(listen_host.lower())}
    are_same = len(hosts) == 1 or (all(map(is_loopback, hosts)) and (listen_host in _WILDCARDS or "localhost" in hosts))
    if are_same and (parts.port or _PORTS[parts.scheme]) == port:
        raise BadSetting(
            "upstream",
            f"upstream is {upstream}, but the relay itself listens on {listen}. Set upstream to the URL of the "
            "provider, or choose another port with --listen.",
        )


def check_base_url(name: str, url: str, shown: str | None = None) -> None:
    """Raise BadSetting if the setting ``name`` is not a base URL for HTTP. ``shown`` is its name in the message."""
    example = _EXAMPLES.get(name, _EXAMPLES["upstream"])
    shown = shown or name
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_clean = url.isascii() and url.isprintable() and " " not in url
    is_server = _is_host(parts.hostname or "") and "@" not in parts.netloc and port != 0
    is_valid = parts.scheme in ("http", "https") and is_server and is_clean
    if not is_valid and "@" in url:  # the message must not contain a password
        raise BadSetting(
            name,
            f"{shown} contains a user name or password. Use a URL such as {example}.",
        )
    if not is_valid:
        hint = "" if "://" in url else " It must start with https:// or http://."
        raise BadSetting(name, f"{shown} is {url!r}: expected a URL such as {example}.{hint}")
    if parts.query or parts.fragment:
        raise BadSetting(name, f"{shown} contains ? or #. Use a URL such as {example}.")


def check_proxy(shown: str, proxy: str) -> None:
    """Raise BadSetting if ``upstream_proxy`` is neither an HTTP proxy nor a known word. No password is shown."""
    if proxy in (PROXY_FROM_ENVIRONMENT, NO_PROXY):
        return
    try:
        parts = urlsplit(proxy)
        is_valid = parts.scheme == "http" and bool(parts.port) and _is_host(parts.hostname or "")
    except ValueError:
        is_valid = False
    is_clean = proxy.isprintable() and " " not in proxy
    if not (is_valid and is_clean) or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadSetting(
            "upstream_proxy",
            f"{shown} is not the URL of an HTTP proxy with host and port, such as http://proxy.example:3128 or "
            f"http://user:password@proxy.example:3128. It may also be {PROXY_FROM_ENVIRONMENT} or {NO_PROXY}.",
        )


def check_sub_path(dashboard_url: str) -> None:
    """Raise BadSetting if the path of ``dashboard_url`` begins like one of the dashboard's own paths."""
    path = urlsplit(dashboard_url).path
    if path.lstrip("/").partition("/")[0] in PROGRAM_SEGMENTS | PAGE_SEGMENTS:
        raise BadSetting(
            "dashboard_url",
            f"dashboard_url has the path {path}, which the dashboard itself uses. Choose another path, such as /logs.",
        )
