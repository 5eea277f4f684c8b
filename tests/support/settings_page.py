"""Generate docs/reference/settings.md from the declarations of the settings. A test compares the two."""

from pathlib import Path
from typing import Final

from relaybook.settings.configuration import FIELDS, FLAGS, TYPES, default_of, flag_of, variable_of
from relaybook.settings.presets import PRESETS
from relaybook.settings.typed_values import describe_type

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
HEAD: Final = """\
# Settings

`make docs` generates this page from `src/relaybook/settings/definitions.py`. A test checks that the two agree.

You can give most settings in three places. If you give a setting more than once, the first place in this list is used:

1. a flag, such as `--idle-timeout`
2. an environment variable, such as `RELAYBOOK_IDLE_TIMEOUT`
3. a key in `relaybook.toml`, such as `idle_timeout`

`relaybook config` prints the value of every setting and the place that the value comes from.

To use another file, name it with `--config FILE` or `RELAYBOOK_CONFIG`. Otherwise, Relaybook reads `./relaybook.toml`
if this file exists. Paths in the file are relative to the file's directory. An unknown flag or key is an error. An
unknown variable that begins with `RELAYBOOK_` only causes a warning.

- **Size**: a number of bytes, or a number with a unit, such as `64MiB`, `10 GiB` or `5MB`.
- **Duration**: a number of seconds, or a number with a unit, such as `500ms`, `10s`, `15min` or `2h`.
- **List**: values separated by commas, or an array in the file.
- For a text or a path without a default, the value `none` means that the setting is not set.

| setting | default | type | meaning |
|---|---|---|---|
"""
FOOT: Final = """
## Routes

With `--routes`, the relay has further base URLs, each for one upstream. The value is a list of presets:

{presets}

A preset that needs the URL of your own resource, and any other upstream, is a table in `relaybook.toml`:

```toml
[routes.cursor]                                # base URL http://127.0.0.1:4100/cursor/v1
upstream   = "https://openrouter.ai/api/v1"
namespace  = "cursor"                          # of requests that do not set a namespace
properties = {{ tool = "cursor" }}
log        = "no-bodies"
```

All keys of such a table are optional, except `upstream` if there is no preset:

- `preset`: the preset whose values apply. By default, it is the preset with the name of the route, if there is one.
- `upstream`: the base URL of the upstream. With a preset, it is the root of the API, without a version such as `/v1`.
- `mount`: the path of the route's base URL. The default is `/NAME` with a preset, and `/NAME/v1` otherwise.
- `namespace` and `properties`: tags of requests that do not send other values.
- `log`: with `no-bodies`, no request of the route can turn on the logging of bodies, whatever its namespace.
- `price_as`, `upstream_proxy`, `upstream_ca_file`, `upstream_cert`, `upstream_key`, `connect_timeout`,
  `upstream_timeout`, `idle_timeout`, `upstream_idle` and `max_in_flight`: as the settings of the same name. The proxy
  `none` means a direct connection.
- `headers_as_properties` and `fields_as_properties`: added to the settings of the same name.

Names of routes have up to 32 lower-case letters, digits and hyphens. Presets in `--routes` are added to the tables.

## Secrets

Secrets have no flag, because other users of the machine can read flags. Set secrets in the environment or in the file.
"""


def settings_page() -> str:
    """Return the whole page."""
    return HEAD + "".join(_row(name) for name in FIELDS) + FOOT.format(presets=_presets())


def _presets() -> str:
    """Return the table of presets."""
    head = "| preset | upstream | base URL of clients, after the address of the relay |\n|---|---|---|\n"
    return head + "\n".join(
        f"| `{preset.name}` | {preset.upstream or f'your own, such as {preset.example}'} | "
        f"`/{preset.name}{preset.base_path}` |"
        for preset in PRESETS
    )


def _row(name: str) -> str:
    default = default_of(name)
    spelling = f"`{flag_of(name)}`" if name in FLAGS else f"`{variable_of(name)}` (no flag)"
    if name in ("namespaces", "prices", "headers_as_properties", "fields_as_properties"):
        spelling = f"`[{name}{'.…' if name in ('namespaces', 'prices') else ''}]` (only in the file)"
    shown = default if default == "–" else f"`{default}`"
    return f"| {spelling} | {shown} | {describe_type(TYPES[name])} | {FIELDS[name].metadata['help']} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
