"""List every route of the dashboard's application, so that tests can request all of them."""

import re
from typing import Final

from starlette.routing import Route
from tests.support.api_log import app_of

#: Paths that are served without the token and without a check of the Host.
HEALTH: Final = frozenset({"/healthz", "/readyz"})
_SAFE: Final = frozenset({"GET", "HEAD"})
_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
_VALUES: Final = {"id": "1", "side": "request", "at": "0", "place": "0", "field": "model", "name": "x", "path": "x"}


def every_route() -> list[tuple[str, str]]:
    """Return the method and the path of every route. Path parameters are replaced by values."""
    found = []
    for route in app_of().routes:
        assert isinstance(route, Route), "unknown kind of route: add how to request it"
        path = _PARAMETER.sub(lambda parameter: _VALUES[parameter[1]], route.path)
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


def is_safe(method: str) -> bool:
    """Return whether requests with this method change nothing."""
    return method in _SAFE


def is_open(method: str, path: str) -> bool:
    """Return whether a route needs no token. Add a route only if it must be open to everyone.

    The assets are open, because the program is open source. ``/v1`` only returns the relay's address.
    """
    is_asset = path.startswith("/assets/") and is_safe(method)
    return path in HEALTH or is_asset or path in {"/v1", "/v1/x"} or (method, path) == ("POST", "/api/session")
