"""Keeps urllib from following redirects: a key or token goes to the address that was named, and nowhere else."""

from typing import Any
from urllib.request import HTTPRedirectHandler


class NoRedirect(HTTPRedirectHandler):
    """A redirect is then an ``HTTPError`` like any other status."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follows none."""
