"""Resolve the settings from flags, the environment, relaybook.toml and defaults, in this order of precedence.

Names are derived from the fields of ``Settings``, for example ``--idle-timeout``, ``RELAYBOOK_IDLE_TIMEOUT``, and
``idle_timeout`` in TOML. Unknown flags and keys are rejected with a suggestion. Unknown variables that start with
RELAYBOOK_ cause a warning, except for variables that Kubernetes sets for services named relaybook or relaybook-….
Errors raise BadSetting with a one-line message. The message contains the source, the value and the expected value.
"""

import dataclasses
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_type_hints
from urllib.parse import urlsplit

from relaybook.settings import BadSetting
from relaybook.settings.definitions import Settings, is_utf8
from relaybook.settings.routes import DEFAULT, RouteSettings, listed_routes
from relaybook.settings.suggestions import suggest
from relaybook.settings.typed_values import BadValue, format_value, parse_value, without_password

PREFIX: Final = "RELAYBOOK_"
FILE_NAME: Final = "relaybook.toml"
FIELDS: Final = {field.name: field for field in dataclasses.fields(Settings)}
TYPES: Final[dict[str, Any]] = get_type_hints(Settings)
#: Settings that have a flag. Secrets have no flag, because a process list shows flags.
FLAGS: Final = tuple(name for name, field in FIELDS.items() if field.metadata["flag"])

#: Variables that Kubernetes sets for services named ``relaybook`` or ``relaybook-…``.
_SERVICE_LINK: Final = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$")


#: Warn if the upstream's base URL ends with one of these paths. ``/models`` is not in the list, because the base URLs
#: of some providers end with it.
_ENDPOINTS: Final = ("/chat/completions", "/completions", "/responses", "/messages", "/embeddings")


@dataclass(frozen=True)
class Configuration:
    """The settings and their sources: "flag", "environment RELAYBOOK_LISTEN", "relaybook.toml" or "default".

    ``server_warnings`` matter only if a server uses these settings.
    """

    settings: Settings
    sources: dict[str, str]
    warnings: list[str]
    server_warnings: list[str]

    @property
    def data(self) -> Path:
        """The data directory, as an absolute path. ``resolve`` always sets this path."""
        assert self.settings.data is not None
        return self.settings.data


@dataclass(frozen=True)
class _RawValue:
    """A value before parsing. Relative paths are relative to ``base``.

    The command ``config`` shows ``source``, and errors show ``name``.
    """

    value: object
    source: str
    name: str
    base: Path


def flag_of(name: str) -> str:
    """Return the flag of a setting, for example ``--idle-timeout`` for ``idle_timeout``."""
    return "--" + name.replace("_", "-")


def variable_of(name: str) -> str:
    """Return the environment variable of a setting, for example ``RELAYBOOK_IDLE_TIMEOUT`` for ``idle_timeout``."""
    return PREFIX + name.upper()


def default_of(name: str) -> str:
    """Return the default of a setting as text, or ``–`` if there is no default."""
    field = FIELDS[name]
    return format_value(field.default_factory() if callable(field.default_factory) else field.default)


def resolve(
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    directory: Path,
    config: str | None = None,
) -> Configuration:
    """Resolve and validate all settings. Raises BadSetting.

    ``flags`` contains only the flags that were passed. Relative paths in flags and variables are relative to
    ``directory``. Relative paths in the TOML file are relative to the directory of that file. The TOML file is
    ``config``, or else RELAYBOOK_CONFIG, or else relaybook.toml in ``directory`` if that file exists. An empty variable
    counts as not set. The setting ``data`` of the result is an absolute path.
    """
    in_file = _from_file(config, environ, directory)
    raw = dict(in_file)
    raw.update(_from_environment(environ, directory))
    raw.update({name: _RawValue(value, "flag", flag_of(name), directory) for name, value in flags.items()})
    values = {name: _parse(name, value) for name, value in raw.items() if name != "routes"}
    if "routes" in raw:
        values["routes"] = _routes(raw["routes"], in_file.get("routes"))
    if values.get("data") is None:
        values["data"] = default_data(environ, directory)
        raw.pop("data", None)
    try:
        settings = Settings(**values)
    except BadSetting as error:
        origin = raw.get(error.name)
        raise BadSetting(error.name, f"{error} The value comes from {origin.name}." if origin else str(error)) from None
    sources = {name: raw[name].source if name in raw else "default" for name in FIELDS}
    server_warnings = [*_upstream_warnings(settings), *_token_warnings(settings)]
    return Configuration(settings, sources, _unknown_variables(environ), server_warnings)


def default_data(environ: Mapping[str, str], directory: Path) -> Path:
    """Return ``./relaybook-data`` if it exists, otherwise the platform's directory for application data."""
    local = directory / "relaybook-data"
    if local.is_dir():
        return local.absolute()
    xdg = environ.get("XDG_DATA_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "relaybook"
    try:
        home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError:
        raise BadSetting(
            "data", "The default data directory is unknown, because there is no home directory. Set --data DIRECTORY."
        ) from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "relaybook"
    return home / ".local" / "share" / "relaybook"


def _from_file(config: str | None, environ: Mapping[str, str], directory: Path) -> dict[str, _RawValue]:
    explicit = config or environ.get(f"{PREFIX}CONFIG") or None
    try:
        path = directory / Path(explicit or FILE_NAME).expanduser()
    except RuntimeError:
        raise BadSetting("config", f"config is {explicit!r}, but this user has no home directory.") from None
    if explicit is None and not path.exists():
        return {}
    label = explicit or FILE_NAME
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadSetting("config", f"{label} could not be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise BadSetting("config", f"{label} is not UTF-8 text.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSetting("config", f"{label} is not valid TOML: {error}.") from None
    for key in content:
        if key not in FIELDS:
            suggestion = suggest(key.replace("-", "_"), FIELDS)
            raise BadSetting(key, f"{label} has an unknown key: {key[:80]!r}.{suggestion}")
    base = path.absolute().parent
    return {key: _RawValue(value, label, f"{key} in {label}", base) for key, value in content.items()}


def _from_environment(environ: Mapping[str, str], directory: Path) -> dict[str, _RawValue]:
    variables = ((name, variable_of(name)) for name in FIELDS)
    return {
        name: _RawValue(environ[variable], f"environment {variable}", variable, directory)
        for name, variable in variables
        if environ.get(variable)
    }


def _parse(name: str, raw: _RawValue, hint: Any = None) -> Any:
    """Parse a value as the type of the setting, or as ``hint``. Raises BadSetting."""
    if isinstance(raw.value, str) and not is_utf8(raw.value):
        raise BadSetting(name, f"{raw.name} is not UTF-8 text.")
    try:
        value = parse_value(hint or TYPES[name], raw.value)
    except BadValue as error:
        shown = "(not shown)" if FIELDS[name].metadata["secret"] else repr(raw.value)[:120]
        shown = "not valid" if isinstance(raw.value, dict) else without_password(shown)
        end = "" if error.expected.endswith("?") else "."
        raise BadSetting(name, f"{raw.name} is {shown}: expected {error.expected}{end}") from None
    return _absolute(value, raw.base)


def _absolute(value: Any, base: Path) -> Any:
    """Return the value with absolute paths. Relative paths, also those in tables, are relative to ``base``."""
    if isinstance(value, Path):
        return (base / value).absolute()
    if isinstance(value, RouteSettings):
        return dataclasses.replace(value, **{name: _absolute(each, base) for name, each in vars(value).items()})
    return {name: _absolute(each, base) for name, each in value.items()} if isinstance(value, dict) else value


def _routes(raw: _RawValue, in_file: _RawValue | None) -> dict[str, RouteSettings]:
    """Return the tables of the file and the listed presets. A list in a flag or a variable adds to the tables."""
    names = [] if isinstance(raw.value, dict) else _parse("routes", raw, list[str])
    tables: dict[str, RouteSettings] = {}
    if in_file is not None and isinstance(in_file.value, dict):
        tables = _parse("routes", in_file)
    return {**tables, **listed_routes([name for name in names if name not in tables])}


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = {f"{PREFIX}CONFIG", *map(variable_of, FIELDS)}
    unknown = sorted(
        name
        for name, value in environ.items()
        if name.startswith(PREFIX) and name not in known and not _is_service_link(name, value)
    )
    if not unknown:
        return []
    # Compare without the prefix, because the prefix would make all names similar.
    suggestion = suggest(unknown[0].removeprefix(PREFIX), map(str.upper, FIELDS)) if len(unknown) == 1 else ""
    return [f"Unknown settings are ignored: {', '.join(unknown)}.{suggestion.replace('mean ', f'mean {PREFIX}')}"]


def _is_service_link(name: str, value: str) -> bool:
    is_address = name.endswith("_PORT") and value.startswith(("tcp://", "udp://", "sctp://"))
    return is_address or _SERVICE_LINK.search(name) is not None


def _token_warnings(settings: Settings) -> list[str]:
    if not settings.feedback_token or settings.dashboard_token:
        return []
    return [
        "feedback_token is set without a dashboard_token, so anyone who reaches the dashboard can read the log without "
        "a token. Set RELAYBOOK_DASHBOARD_TOKEN, too."
    ]


def _upstream_warnings(settings: Settings) -> list[str]:
    return [
        warning
        for route in settings.resolved_routes()
        if route.preset is None
        for warning in _url_warnings(route.upstream, f"upstream{'' if route.name == DEFAULT else f' of {route.name}'}")
    ]


def _url_warnings(upstream: str, name: str) -> list[str]:
    base = upstream.rstrip("/")
    if endpoint := next((path for path in _ENDPOINTS if base.endswith(path)), None):
        return [f"The {name} {base} is an endpoint. The base URL is probably {base.removesuffix(endpoint)}."]
    if urlsplit(upstream).path.strip("/"):
        return []
    return [f"The {name} {base} has no path. Most providers need a path, such as {base}/v1."]
