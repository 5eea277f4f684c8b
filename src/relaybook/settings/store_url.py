"""Parse the URL of a ClickHouse database: ``clickhouse://user@host:8443/database?secure=1``."""

import re
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

_PORTS: Final = {False: 8123, True: 8443}
_DATABASE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)
_SECURE: Final = {"": False, "secure=0": False, "secure=1": True}


class DatabaseAddress(NamedTuple):
    """A database, with the address of its server and the credentials to sign in."""

    host: str
    port: int
    database: str
    user: str = "default"
    password: str = ""
    secure: bool = False

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


def parse_store_url(url: str) -> DatabaseAddress:
    """Return the address in a ClickHouse URL, with an empty password.

    Raises ValueError with the reason if the URL is invalid or contains a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("the host or port is invalid") from None
    if parts.scheme != "clickhouse" or not parts.hostname:
        raise ValueError("expected sqlite, or a URL such as clickhouse://user@localhost:8123/relaybook")
    if parts.password is not None:
        raise ValueError("a password is not allowed here; set RELAYBOOK_STORE_PASSWORD")
    database = parts.path.removeprefix("/")
    if not _DATABASE.fullmatch(database):
        raise ValueError("expected the name of a database after the host: letters, digits and _")
    if parts.query not in _SECURE or parts.fragment:
        raise ValueError("after the database, only ?secure=1 is allowed")
    secure = _SECURE[parts.query]
    user = unquote(parts.username or "default")
    return DatabaseAddress(parts.hostname, port or _PORTS[secure], database, user, "", secure)
