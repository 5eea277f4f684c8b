"""Generate docs/reference/settings.md from the declarations of the settings. A test compares the two."""

from pathlib import Path
from typing import Final

from relaybook.settings.configuration import FIELDS, FLAGS, TYPES, default_of, flag_of, variable_of
from relaybook.settings.typed_values import describe_type

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
HEAD: Final = """\
# Settings

Generated from `src/relaybook/settings/definitions.py` by `make docs`; a test compares the two.

Each setting can be given in three places. In order of precedence: a flag (`--idle-timeout`), an environment variable
(`RELAYBOOK_IDLE_TIMEOUT`), a key in `relaybook.toml` (`idle_timeout`). `relaybook config` prints every value and its
source.

Relaybook reads `./relaybook.toml` if it exists, or the file given with `--config FILE` or `RELAYBOOK_CONFIG`. Paths in
the file are relative to the file. An unknown flag or key is an error. An unknown `RELAYBOOK_…` variable is a warning.

- **Size**: a number of bytes, or a number with a unit: `64MiB`, `10 GiB`, `5MB`.
- **Duration**: a number of seconds, or a number with a unit: `500ms`, `10s`, `15min`, `2h`.
- **List**: values separated by commas, or an array in TOML.
- `none` unsets an optional setting.

| setting | default | type | meaning |
|---|---|---|---|
"""
FOOT: Final = """
Secrets have no flag, because other users of the machine can read flags. Set them in the environment or in the file.
"""


def settings_page() -> str:
    """Return the whole page."""
    return HEAD + "".join(_row(name) for name in FIELDS) + FOOT


def _row(name: str) -> str:
    default = default_of(name)
    spelling = f"`{flag_of(name)}`" if name in FLAGS else f"`{variable_of(name)}` (no flag)"
    if name == "namespaces":
        spelling = "`[namespaces.…]` (only in the file)"
    value_type = "size" if default.endswith("iB") else describe_type(TYPES[name])
    shown = default if default == "–" else f"`{default}`"
    return f"| {spelling} | {shown} | {value_type} | {FIELDS[name].metadata['help']} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
