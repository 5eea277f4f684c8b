"""Declare routes and their descriptions in the OpenAPI document."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

_ENCODED_SLASH: Final = re.compile("%2f", re.IGNORECASE)
#: Stands for an encoded slash while the path is matched. A decoded path never contains this lone surrogate.
_SLASH: Final = "\udc2f"


class _RequestIdConvertor(StringConvertor):
    """Matches any id in ``/api/requests/{id:request_id}``, also with slashes, but not the paths below a request."""

    regex = "(?!.*/(?:request|response|progress|feedback|last-good|cache|media/[^/]+/[^/]+/[^/]+)\\Z).*"


register_url_convertor("request_id", _RequestIdConvertor())


class Operation(NamedTuple):
    """The documentation of a route. ``response`` and ``body`` are models (msgspec structs).

    ``response`` is ``None`` if the response is text. ``body`` is ``None`` if the route takes no JSON body.
    """

    response: Any
    parameters: list[dict[str, Any]]
    media_type: str
    body: Any
    #: Status of a successful response.
    status: int = 200


class ApiRoute(Route):
    """A route that accepts only the given methods. Starlette's own routes add HEAD to every GET.

    An encoded slash (``%2F``) in a path is part of a parameter. With Starlette's own routes, it separates segments like
    any other slash. So ``/api/requests/a%2Frequest`` is the request with the id ``a/request``.

    ``operation`` is ``None`` if the route is not in the OpenAPI document. The name of the route is the handler's name.
    """

    methods: set[str]

    def __init__(
        self, path: str, handler: Handler, methods: Iterable[str], tag: str = "", operation: Operation | None = None
    ) -> None:
        super().__init__(path, handler, methods=list(methods))
        # A parameter in the path may contain newlines, because upstreams and clients choose ids and names of
        # properties. ``$`` would also match before a newline at the end.
        self.path_regex = re.compile(self.path_regex.pattern.removesuffix("$") + r"\Z", re.DOTALL)
        self.methods = set(methods)
        self.tag = tag
        self.operation = operation

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        raw_path = scope.get("raw_path", b"").decode("latin-1")
        if not _ENCODED_SLASH.search(raw_path):
            return super().matches(scope)
        path = _SLASH.join(map(unquote, _ENCODED_SLASH.split(raw_path)))
        # The sub-path of the dashboard was removed from scope["path"], but not from raw_path.
        match, child_scope = super().matches({**scope, "path": path[len(path) - len(scope["path"]) :]})
        for name, value in child_scope.get("path_params", {}).items():
            child_scope["path_params"][name] = value.replace(_SLASH, "/")
        return match, child_scope


class Routes:
    """The routes of one module, in the order of their declaration."""

    def __init__(self, tag: str = "") -> None:
        """``tag`` is the heading of these routes in the OpenAPI document."""
        self._tag = tag
        self.declared: list[ApiRoute] = []

    def get(self, path: str, operation: Operation, *, accepts_head: bool = False) -> Callable[[Handler], Handler]:
        """Add a documented GET route."""
        return self._add(path, ["GET", "HEAD"] if accepts_head else ["GET"], operation)

    def post(self, path: str, operation: Operation) -> Callable[[Handler], Handler]:
        """Add a documented POST route."""
        return self._add(path, ["POST"], operation)

    def put(self, path: str, operation: Operation) -> Callable[[Handler], Handler]:
        """Add a documented PUT route."""
        return self._add(path, ["PUT"], operation)

    def patch(self, path: str, operation: Operation) -> Callable[[Handler], Handler]:
        """Add a documented PATCH route."""
        return self._add(path, ["PATCH"], operation)

    def delete(self, path: str, operation: Operation) -> Callable[[Handler], Handler]:
        """Add a documented DELETE route."""
        return self._add(path, ["DELETE"], operation)

    def undocumented(self, path: str, methods: Iterable[str]) -> Callable[[Handler], Handler]:
        """Add a route that is not in the OpenAPI document."""
        return self._add(path, methods, None)

    def _add(self, path: str, methods: Iterable[str], operation: Operation | None) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            self.declared.append(ApiRoute(path, handler, methods, self._tag, operation))
            return handler

        return add
