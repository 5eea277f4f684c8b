"""Find the address of a client behind trusted proxies. This module does no I/O."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

#: Longer addresses in X-Forwarded-For are truncated, because a proxy can send any text.
_MAX_CHARACTERS: Final = 64


def client_address(remote_address: str, forwarded_for: str, trusted_proxies: Sequence[str]) -> str:
    """Return the client's address. ``trusted_proxies`` are addresses and networks.

    If the remote address of the connection is not a trusted proxy, return this remote address. Otherwise, return the
    last address in X-Forwarded-For that is not a trusted proxy, or the remote address if there is no such address.
    """
    if not trusted_proxies:
        return remote_address
    trusted = tuple(trusted_proxies)
    if not _is_trusted(remote_address, trusted):
        return remote_address
    for hop in reversed(forwarded_for.split(",")):
        address = hop.strip()[:_MAX_CHARACTERS]
        if address and not _is_trusted(address, trusted):
            return address
    return remote_address


@lru_cache(maxsize=1024)
def _is_trusted(address: str, trusted: tuple[str, ...]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    # A socket that listens on [::] shows the IPv4 address 10.0.0.7 as ::ffff:10.0.0.7.
    addresses = (parsed, getattr(parsed, "ipv4_mapped", None) or parsed)
    return any(each in network for network in _networks(trusted) for each in addresses)


@lru_cache(maxsize=8)
def _networks(trusted: tuple[str, ...]) -> list[IPv4Network | IPv6Network]:
    return [ip_network(each, strict=False) for each in trusted]
