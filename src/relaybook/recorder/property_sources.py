"""Read the properties that clients send without knowing it: headers and fields that the settings of a route name.

Such a client cannot send tags, but identifies a team or a user in a header or field of its own. Tags win over these
properties. Headers are read from the log, where keys are masked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from relaybook.log.formats.lenient import as_json
from relaybook.settings.definitions import Settings
from relaybook.tags import with_metadata

#: The name of a property, and the path of a field that has its value.
_Field = tuple[str, tuple[str, ...]]


class _Sources(NamedTuple):
    """The headers (in lower case) and fields of one route, each with the name of its property."""

    headers: Mapping[bytes, str]
    fields: tuple[_Field, ...]


class PropertySources:
    """The headers and fields whose values become properties, by route."""

    def __init__(self, by_route: Mapping[str, _Sources] | None = None) -> None:
        self._by_route = {name: each for name, each in (by_route or {}).items() if each.headers or each.fields}
        #: The headers of all routes, in lower case.
        self.headers = frozenset(header for each in self._by_route.values() for header in each.headers)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the sources that the settings name."""
        return cls(
            {
                route.name: _Sources(
                    {header.encode(): name for header, name in route.headers_as_properties.items()},
                    tuple((name, tuple(path.split("."))) for path, name in route.fields_as_properties.items()),
                )
                for route in settings.resolved_routes()
            }
        )

    def add(
        self, properties: dict[str, str], route: str, headers: Mapping[bytes, str], body: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the properties with those from headers (by lower-case name) and from the fields of a request body."""
        sources = self._by_route.get(route)
        if sources is None:
            return properties
        return with_metadata(properties, _found(sources, headers, body))[0]


def _found(sources: _Sources, headers: Mapping[bytes, str], body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for header, name in sources.headers.items():
        if value := headers.get(header):
            yield name, value
    for name, path in sources.fields:
        if (text := _text_at(body, path)) is not None:
            yield name, text


def _text_at(body: Any, path: Iterable[str]) -> str | None:
    """Return the text, number or boolean at a path, as text. `None` if there is none."""
    for name in path:
        body = body.get(name) if isinstance(body, Mapping) else None
    if isinstance(body, str):
        return body or None
    return as_json(body) if isinstance(body, int | float) else None
