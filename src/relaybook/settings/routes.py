"""Resolve the routes: each has the values of its table, of its preset, and of the general settings, in this order.

A route is a base URL of the relay that stands for one upstream. ``mount`` is the path of this base URL.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from relaybook.settings import BadSetting
from relaybook.settings.addresses import NO_PROXY, check_base_url, check_proxy, is_loopback
from relaybook.settings.presets import BY_NAME, Preset
from relaybook.settings.suggestions import suggest
from relaybook.settings.typed_values import Count, Table

#: The name of the route of the setting ``upstream``, and its mount.
DEFAULT: Final = "default"
DEFAULT_MOUNT: Final = "/v1"
#: Names of routes whose mounts would have paths of the server itself.
_RESERVED: Final = frozenset({DEFAULT, "v1", "api", "healthz", "readyz", "mcp", "ns"})
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_MOUNT: Final = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
_VERSION: Final = re.compile(r"/v\d+(?:beta\d*)?/?$")


@dataclass(frozen=True, kw_only=True)
class RouteSettings(Table):
    """The table of a route. `None` means that the value of the preset applies, or else the general setting."""

    example: ClassVar[str] = "[routes.anthropic]"

    preset: str | None = None
    upstream: str | None = None
    mount: str | None = None
    namespace: str | None = None
    properties: dict[str, str] | None = None
    log: Literal["full", "no-bodies"] | None = None
    price_as: str | None = None
    upstream_proxy: str | None = None
    upstream_ca_file: Path | None = None
    upstream_cert: Path | None = None
    upstream_key: Path | None = None
    connect_timeout: float | None = None
    upstream_timeout: float | None = None
    idle_timeout: float | None = None
    upstream_idle: float | None = None
    max_in_flight: Count | None = None
    headers_as_properties: dict[str, str] | None = None
    fields_as_properties: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ResolvedRoute:
    """A route with all of its values. Names of headers are in lower case."""

    name: str
    preset: str | None
    mount: str
    upstream: str
    namespace: str
    properties: dict[str, str]
    log: Literal["full", "no-bodies"]
    #: Whether the route itself sets ``log`` to no-bodies, which a namespace of the client cannot change.
    is_private: bool
    price_as: str | None
    upstream_proxy: str | None
    upstream_ca_file: Path | None
    upstream_cert: Path | None
    upstream_key: Path | None
    connect_timeout: float
    upstream_timeout: float
    idle_timeout: float
    upstream_idle: float
    max_in_flight: int
    headers_as_properties: dict[str, str]
    fields_as_properties: dict[str, str]

    @property
    def base_path(self) -> str:
        """The path of the base URL for clients: the mount, and what the clients of the preset expect after it."""
        return self.mount + (BY_NAME[self.preset].base_path if self.preset else "")

    def base_url(self, default: str) -> str:
        """Return the base URL for clients. ``default`` is that of the route of the setting ``upstream``."""
        return default if self.name == DEFAULT else root_url(default) + self.base_path


#: The settings that are the values of a route without an own value.
_GENERAL: Final = (
    *("price_as", "upstream_proxy", "upstream_ca_file", "upstream_cert", "upstream_key", "connect_timeout"),
    *("upstream_timeout", "idle_timeout", "upstream_idle", "max_in_flight", "log"),
)


def root_url(default: str) -> str:
    """Return the URL of the relay without the mount of a route. ``default`` is the base URL of the default route."""
    return default.rstrip("/").removesuffix(DEFAULT_MOUNT)


def listed_routes(names: Iterable[str]) -> dict[str, RouteSettings]:
    """Return the routes of a list of presets. Raises BadSetting if there is no such preset."""
    for name in names:
        _preset("routes", name)
    return {name: RouteSettings(preset=name) for name in names}


def resolve_routes(tables: Mapping[str, RouteSettings], general: Mapping[str, Any]) -> list[ResolvedRoute]:
    """Return the route of the setting ``upstream``, and then the routes of the tables. Raises BadSetting.

    ``general`` has the general settings by name.
    """
    own = RouteSettings(upstream=general["upstream"], mount=DEFAULT_MOUNT)
    routes = [_resolve(DEFAULT, own, general, is_default=True)]
    routes += [_resolve(name, own, general) for name, own in tables.items()]
    _check_mounts(routes)
    return routes


def _resolve(name: str, own: RouteSettings, general: Mapping[str, Any], *, is_default: bool = False) -> ResolvedRoute:
    where = "upstream" if is_default else f"routes.{name}"
    if not is_default and (name in _RESERVED or _NAME.fullmatch(name) is None):
        raise BadSetting(
            "routes",
            f"routes has the name {name[:80]!r}: expected a lower-case letter, then at most 31 lower-case letters, "
            f"digits or hyphens. The names {', '.join(sorted(_RESERVED))} are reserved.",
        )
    preset = _preset(where, own.preset or name) if own.preset or name in BY_NAME else None
    upstream = own.upstream or (preset.upstream if preset else None)
    if upstream is None:
        raise BadSetting("routes", _missing_upstream(name, preset))
    if not is_default:
        _check_upstream(where, upstream, preset)
    values = {key: getattr(own, key) for key in _GENERAL}
    if values["price_as"] is None and preset is not None:
        values["price_as"] = preset.price_as
    if values["upstream_cert"] is not None:  # the general key belongs to the general certificate
        general = {**general, "upstream_key": None}
    if values["upstream_proxy"] is None and is_loopback(urlsplit(upstream).hostname or ""):
        values["upstream_proxy"] = NO_PROXY
    values = {key: general[key] if value is None else value for key, value in values.items()}
    if values["upstream_proxy"] == NO_PROXY:
        values["upstream_proxy"] = None
    _check_connection(where, values)
    return ResolvedRoute(
        name=name,
        preset=preset.name if preset else None,
        mount=_mount(where, own.mount or f"/{name}{'' if preset else '/v1'}"),
        upstream=upstream,
        namespace=own.namespace or general["default_namespace"],
        properties=own.properties or {},
        is_private=own.log == "no-bodies",
        headers_as_properties={
            header.lower(): name
            for header, name in {**general["headers_as_properties"], **(own.headers_as_properties or {})}.items()
        },
        fields_as_properties={**general["fields_as_properties"], **(own.fields_as_properties or {})},
        **values,
    )


def _preset(where: str, name: str) -> Preset:
    if name not in BY_NAME:
        raise BadSetting(
            "routes",
            f"{where} names the preset {name[:80]!r}, which does not exist.{suggest(name, BY_NAME)} Presets: "
            f"{', '.join(BY_NAME)}. For another upstream, write a table [routes.NAME] with upstream in relaybook.toml.",
        )
    return BY_NAME[name]


def _missing_upstream(name: str, preset: Preset | None) -> str:
    if preset is None:
        return f'routes.{name} has no upstream. Add the base URL, such as upstream = "https://llm.example.com/v1".'
    return (
        f"The preset {preset.name} needs the URL of your own resource. In relaybook.toml, write [routes.{name}] and "
        f'upstream = "{preset.example}".'
    )


def _check_upstream(where: str, upstream: str, preset: Preset | None) -> None:
    check_base_url("routes", upstream, f"upstream of {where}")
    if preset is not None and (found := _VERSION.search(upstream)):
        raise BadSetting(
            "routes",
            f"The upstream of {where} ends with {found[0]}, but the paths of the preset {preset.name} begin with the "
            f"version. Remove {found[0]} from upstream, or remove preset and name the route differently.",
        )


def _check_connection(where: str, values: Mapping[str, Any]) -> None:
    proxy = values["upstream_proxy"]
    if proxy is not None:
        check_proxy("upstream_proxy" if where == "upstream" else f"upstream_proxy of {where}", proxy)
    if values["upstream_key"] is not None and values["upstream_cert"] is None:
        raise BadSetting(
            "upstream_key" if where == "upstream" else "routes",
            f"upstream_key is set without upstream_cert ({where}). Set both, or neither of them.",
        )
    for name in ("connect_timeout", "upstream_timeout", "idle_timeout", "upstream_idle", "max_in_flight"):
        if values[name] <= 0:
            source = name if where == "upstream" else "routes"
            raise BadSetting(source, f"{name} is {values[name]} ({where}): expected a number above 0.")


def _mount(where: str, mount: str) -> str:
    if _MOUNT.fullmatch(mount) is None or any(segment in (".", "..") for segment in mount.split("/")):
        raise BadSetting(
            "routes",
            f"The mount of {where} is {mount[:80]!r}: expected a path such as /{where.removeprefix('routes.')}/v1, "
            "without a slash at the end.",
        )
    return mount


def _check_mounts(routes: list[ResolvedRoute]) -> None:
    """Raise BadSetting if a mount is also below another mount, or is a path of the relay itself."""
    for route in routes:
        first = route.mount.split("/")[1]
        if route.name != DEFAULT and first in _RESERVED - {DEFAULT, "v1"}:
            raise BadSetting("routes", f"The mount {route.mount} of {route.name} is a path of the server itself.")
        for other in routes:
            if other is not route and f"{route.mount}/".startswith(f"{other.mount}/"):
                raise BadSetting(
                    "routes",
                    f"The mount {route.mount} of the route {route.name} is below the mount {other.mount} of the route "
                    f"{other.name}, so the relay could not tell them apart. Choose another mount for one of them.",
                )
