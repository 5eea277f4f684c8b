"""Generate docs/how-to/connect-a-client.md, and the page's table of clients, from the tables of clients.

Tests compare the generated files with the tables.
"""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from textwrap import fill as wrap
from typing import Final

from relaybook.settings.client_setup import Client, Snippet, fill
from relaybook.settings.presets import BY_NAME
from relaybook.settings.programs import PROGRAMS
from relaybook.settings.sdks import SDKS

_ROOT: Final = Path(__file__).parents[2]
PAGE: Final = _ROOT / "docs" / "how-to" / "connect-a-client.md"
SCRIPT: Final = _ROOT / "dashboard" / "src" / "generated" / "clients.ts"
CLIENTS: Final = (*SDKS, *PROGRAMS)
#: The presets that clients need, in the order in which the clients first name them.
PRESETS: Final = tuple(dict.fromkeys(client.preset for client in CLIENTS))
_RELAY: Final = "http://127.0.0.1:4100"
_HEAD: Final = """\
# Connect a client

`make docs` generates this page from `src/relaybook/settings/sdks.py` and `programs.py` in the same folder. The page
*Connect a client* of the dashboard shows the same setups with the base URLs of your server.

A client needs one change: its base URL. Each route of the relay is a base URL. The route of the setting `upstream` is
`http://127.0.0.1:4100/v1`, and `--routes` adds [routes for other providers](use-several-providers.md):

```sh
relaybook serve --upstream https://api.openai.com/v1 --routes anthropic,gemini,ollama
```

The client sends its own API key, and the relay forwards the key.

All clients can [tag](tag.md) their requests. In the setups below, `my-app` and the names of the programs are
namespaces. A client that cannot send headers has its namespace in the base URL:
`http://127.0.0.1:4100/ns/my-app/v1`, or `http://127.0.0.1:4100/ns/my-app/anthropic`.
"""
_SCRIPT_HEAD: Final = """\
// Generated from relaybook/settings/sdks.py and programs.py by `make docs`; a test compares the two.

/** Code to run, or text to enter. `place` says where. */
export type Snippet = { place: string; language: string; code: string };

/**
 * A client program. `preset` is the preset whose route serves the client. Texts and code have the placeholders that
 * relaybook/settings/client_setup.py lists.
 */
export type Client = {
  id: string;
  name: string;
  group: string;
  preset: keyof typeof PRESETS;
  setup: readonly Snippet[];
  tags: string;
  notes: readonly string[];
};

/**
 * The presets that clients need. `path` is the path of their base URL, and `variable` the environment variable from
 * which their clients read it.
 */
export const PRESETS = {
"""


def clients_page() -> str:
    """Return the whole page of the documentation."""
    sections = [_HEAD]
    for group, clients in groupby(CLIENTS, key=lambda client: client.group):
        sections.append(f"## {group}\n")
        sections += ["\n".join(_section(client)) for client in clients]
    return "\n".join(sections)


def clients_script() -> str:
    """Return the whole TypeScript file."""
    presets = {
        name: {
            "label": preset.label,
            "upstream": preset.upstream,
            "variable": preset.variable,
            "path": f"/{name}{preset.base_path}",
        }
        for name, preset in BY_NAME.items()
        if name in PRESETS
    }
    rows = "".join(f"  {name}: {json.dumps(values)},\n" for name, values in presets.items())
    clients = "".join(f"  {json.dumps(_client(client), ensure_ascii=False)},\n" for client in CLIENTS)
    return (
        f"{_SCRIPT_HEAD}{rows}}} as const;\n\n"
        f"/** The clients, by group. */\nexport const CLIENTS: readonly Client[] = [\n{clients}];\n"
    )


def values_for(client: Client) -> dict[str, str]:
    """Return the values of placeholders for a relay on this machine, with real upstreams."""
    path = "/v1" if client.preset == "openai" else f"/{client.preset}{BY_NAME[client.preset].base_path}"
    return {
        "url": _RELAY + path,
        "namespace_url": f"{_RELAY}/ns/my-app{path}",
        "root": _RELAY,
        "prefix": "Service",
        "key": "your-provider-key",
    }


def _section(client: Client) -> Iterator[str]:
    values = values_for(client)
    yield f"### {client.name}\n"
    if client.preset != "openai":
        yield f"Start Relaybook with `--routes {client.preset}`.\n"
    for snippet in client.setup:
        yield _block(snippet, values)
    yield _wrapped(f"Tags: {fill(client.tags, values)}") + "\n"
    for note in client.notes:
        yield _wrapped(f"- {fill(note, values)}", "  ")
    tested = "not tested; from the documentation of the client" if client.tested is None else client.tested
    yield f"- Tested: {tested}.\n"


def _block(snippet: Snippet, values: dict[str, str]) -> str:
    code = fill(snippet.code, values).rstrip("\n")
    return f"{snippet.place}:\n\n```{snippet.language}\n{code}\n```\n"


def _wrapped(text: str, indent: str = "") -> str:
    return wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _client(client: Client) -> dict[str, object]:
    fields = client._asdict() | {"setup": [snippet._asdict() for snippet in client.setup]}
    del fields["tested"]
    return fields


if __name__ == "__main__":
    PAGE.write_text(clients_page(), "utf-8")
    SCRIPT.write_text(clients_script(), "utf-8")
