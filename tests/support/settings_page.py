"""Generate docs/reference/settings.md from the declarations of the settings. A test compares the two."""

from pathlib import Path
from typing import Final

from relaybook.settings.configuration import FIELDS, FLAGS, TYPES, default_of, flag_of, variable_of
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
Secrets have no flag, because other users of the machine can read flags. Set secrets in the environment or in the file.
"""


def settings_page() -> str:
    """Return the whole page."""
    return HEAD + "".join(_row(name) for name in FIELDS) + FOOT


def _row(name: str) -> str:
    default = default_of(name)
    spelling = f"`{flag_of(name)}`" if name in FLAGS else f"`{variable_of(name)}` (no flag)"
    if name == "namespaces":
        spelling = "`[namespaces.…]` (only in the file)"
    shown = default if default == "–" else f"`{default}`"
    return f"| {spelling} | {shown} | {describe_type(TYPES[name])} | {FIELDS[name].metadata['help']} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
