"""Declare routes and their descriptions in the OpenAPI document."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


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

    ``operation`` is ``None`` if the route is not in the OpenAPI document. The name of the route is the handler's name.
    """

    methods: set[str]

    def __init__(
        self, path: str, handler: Handler, methods: Iterable[str], tag: str = "", operation: Operation | None = None
    ) -> None:
        super().__init__(path, handler, methods=list(methods))
        # A parameter in the path may contain newlines, because upstreams and clients choose ids and names of
        # properties.
        self.path_regex = re.compile(self.path_regex.pattern, re.DOTALL)
        self.methods = set(methods)
        self.tag = tag
        self.operation = operation


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
