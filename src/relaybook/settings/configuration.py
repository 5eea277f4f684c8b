"""Resolves the settings: a flag wins over the environment, that over relaybook.toml, that over the default.

Names derive from the fields of ``Settings``: ``--idle-timeout``, ``RELAYBOOK_IDLE_TIMEOUT``, ``idle_timeout`` in TOML.
What nobody declared is refused with a suggestion; only unknown variables merely warn, because Kubernetes injects some
of our prefix. Errors are BadSetting: one line that names the place, the value and what it takes.
"""

import dataclasses
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_type_hints
from urllib.parse import urlsplit

from relaybook.settings.definitions import BadSetting, Settings
from relaybook.settings.suggestions import suggest
from relaybook.settings.typed_values import BadValue, format_value, parse_value

PREFIX: Final = "RELAYBOOK_"
FILE_NAME: Final = "relaybook.toml"
FIELDS: Final = {field.name: field for field in dataclasses.fields(Settings)}
TYPES: Final[dict[str, Any]] = get_type_hints(Settings)
#: Names a flag may set; the others are secrets, which a list of processes would show.
FLAGS: Final = tuple(name for name, field in FIELDS.items() if field.metadata["flag"])


@dataclass(frozen=True)
class Configuration:
    """Settings with where each came from ("flag", "environment RELAYBOOK_LISTEN", "relaybook.toml", "default")."""

    settings: Settings
    sources: dict[str, str]
    warnings: list[str]

    @property
    def data(self) -> Path:
        """Where journal and log are kept: absolute, never None after resolving."""
        assert self.settings.data is not None
        return self.settings.data


@dataclass(frozen=True)
class _Given:
    """A value as it was found: ``source`` for the table, ``spelling`` for error messages, ``base`` for its paths."""

    value: object
    source: str
    spelling: str
    base: Path


def flag_of(name: str) -> str:
    """``--idle-timeout`` for ``idle_timeout``."""
    return "--" + name.replace("_", "-")


def variable_of(name: str) -> str:
    """``RELAYBOOK_IDLE_TIMEOUT`` for ``idle_timeout``."""
    return PREFIX + name.upper()


def default_of(name: str) -> str:
    """The setting's default as a person would write it; ``–`` where it has none."""
    field = FIELDS[name]
    return format_value(field.default_factory() if callable(field.default_factory) else field.default)


def resolve(
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    directory: Path,
    config: str | None = None,
) -> Configuration:
    """All settings, checked. ``flags`` has only those that were given; ``directory`` is where relative paths begin.

    Reads the file ``config``, else RELAYBOOK_CONFIG, else relaybook.toml in ``directory`` where it exists. An empty
    variable counts as not set. Paths in the file are relative to the file. ``data`` comes back absolute.
    """
    given: dict[str, _Given] = {}
    given.update(_from_file(config, environ, directory))
    given.update(_from_environment(environ, directory))
    given.update({name: _Given(value, "flag", flag_of(name), directory) for name, value in flags.items()})
    values = {name: _parse(name, found) for name, found in given.items()}
    if values.get("data") is None:
        values["data"] = default_data(environ, directory)
        given.pop("data", None)
    try:
        settings = Settings(**values)
    except BadSetting as error:
        culprit = given.get(error.name)
        raise BadSetting(error.name, f"{error} Set by {culprit.spelling}." if culprit else str(error)) from None
    sources = {name: given[name].source if name in given else "default" for name in FIELDS}
    return Configuration(settings, sources, [*_unknown_variables(environ), *_remarks(settings)])


def default_data(environ: Mapping[str, str], directory: Path) -> Path:
    """``./relaybook-data`` where it exists, else the platform's directory for an application's data."""
    here = directory / "relaybook-data"
    if here.is_dir():
        return here.absolute()
    xdg = environ.get("XDG_DATA_HOME", "")
    if xdg.startswith("/"):
        return Path(xdg) / "relaybook"
    try:
        home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError:
        raise BadSetting("data", "There is no home directory to keep the log in: set --data DIRECTORY.") from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "relaybook"
    return home / ".local" / "share" / "relaybook"


def _from_file(config: str | None, environ: Mapping[str, str], directory: Path) -> dict[str, _Given]:
    named = config or environ.get(f"{PREFIX}CONFIG")
    path = directory / Path(named or FILE_NAME).expanduser()
    if named is None and not path.exists():
        return {}
    label = named or FILE_NAME
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadSetting("config", f"{label} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise BadSetting("config", f"{label} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadSetting("config", f"{label} is not TOML: {error}.") from None
    for key in content:
        if key not in FIELDS:
            near = suggest(key.replace("-", "_"), FIELDS)
            raise BadSetting(key, f"{label} has an unknown key: {key[:80]!r}.{near}")
    base = path.absolute().parent
    return {key: _Given(value, label, f"{key} in {label}", base) for key, value in content.items()}


def _from_environment(environ: Mapping[str, str], directory: Path) -> dict[str, _Given]:
    found = ((name, variable_of(name)) for name in FIELDS)
    return {
        name: _Given(environ[variable], f"environment {variable}", variable, directory)
        for name, variable in found
        if environ.get(variable)
    }


def _parse(name: str, given: _Given) -> Any:
    try:
        value = parse_value(TYPES[name], given.value)
    except BadValue as error:
        shown = "not shown" if FIELDS[name].metadata["secret"] else repr(given.value)[:120]
        raise BadSetting(name, f"{given.spelling} is {shown}: it takes {error.takes}.") from None
    return (given.base / value).absolute() if isinstance(value, Path) else value


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = {f"{PREFIX}CONFIG", *map(variable_of, FIELDS)}
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    if not unknown:
        return []
    # Without the prefix, which would make any two of them look alike.
    near = suggest(unknown[0].removeprefix(PREFIX), map(str.upper, FIELDS)) if len(unknown) == 1 else ""
    return [f"Not a setting, ignored: {', '.join(unknown)}.{near.replace('mean ', f'mean {PREFIX}')}"]


def _remarks(settings: Settings) -> list[str]:
    if urlsplit(settings.upstream).path.strip("/"):
        return []
    base = settings.upstream.rstrip("/")
    return [f"upstream {base} has no path: most providers serve below one, like {base}/v1."]
