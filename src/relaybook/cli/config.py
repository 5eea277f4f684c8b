"""``relaybook config``: print every setting, its value and its source. Secrets are not printed."""

from relaybook.cli.output import escape
from relaybook.settings.configuration import FIELDS, Configuration
from relaybook.settings.typed_values import format_value


def show_config(configuration: Configuration) -> int:
    """Print a table of settings, values and sources. Returns the exit code."""
    rows = [(name, shown_value(configuration, name), configuration.sources[name]) for name in FIELDS]
    name_width, value_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, source in rows:
        print(f"{name.ljust(name_width)}  {value.ljust(value_width)}  {escape(source)}")
    return 0


def shown_value(configuration: Configuration, name: str) -> str:
    """Format the value of a setting. For a secret, return "set, not shown"."""
    value = getattr(configuration.settings, name)
    return "set, not shown" if value and FIELDS[name].metadata["secret"] else escape(format_value(value))
