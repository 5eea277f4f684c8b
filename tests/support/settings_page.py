"""Writes docs/reference/settings.md from the declarations of the settings; a test compares the two."""

from pathlib import Path
from typing import Final

from relaybook.configuration import FIELDS, FLAGS, TYPES, default_of, flag_of, variable_of
from relaybook.typed_values import describe_type

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
HEAD: Final = """\
# Settings

Generated from `src/relaybook/settings.py` by `make docs`; a test compares the two.

One setting has one name in three spellings: the flag `--idle-timeout`, the variable `RELAYBOOK_IDLE_TIMEOUT` and the
key `idle_timeout` in `relaybook.toml`. A flag wins over the environment, the environment over the file, the file over
the default. `relaybook config` shows every value and where it came from.

The file is `./relaybook.toml` where it exists, or the one named by `--config FILE` or `RELAYBOOK_CONFIG`. Paths in it
are relative to it. An unknown flag or key is an error; an unknown `RELAYBOOK_…` variable only warns.

- **Size**: a whole number of bytes, or with a unit: `64MiB`, `10 GiB`, `5MB`.
- **Duration**: seconds, or with a unit: `500ms`, `10s`, `15min`, `2h`.
- **List**: text with commas, or an array in TOML.
- `none` takes a value back that may be missing.

| setting | default | takes | what it is |
|---|---|---|---|
"""
FOOT: Final = """
Settings without a flag are secrets: other users of a machine can read flags. Set them in the environment or the file.
"""


def settings_page() -> str:
    """The whole page."""
    return HEAD + "".join(_row(name) for name in FIELDS) + FOOT


def _row(name: str) -> str:
    default = default_of(name)
    spelling = f"`{flag_of(name)}`" if name in FLAGS else f"`{variable_of(name)}` (no flag)"
    takes = "size" if default.endswith("iB") else describe_type(TYPES[name])
    shown = default if default == "–" else f"`{default}`"
    return f"| {spelling} | {shown} | {takes} | {FIELDS[name].metadata['help']} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
