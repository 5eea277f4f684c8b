"""Describe how a client program is connected to the relay: what to set, and how to tag its requests.

The tables in ``sdks.py`` and ``programs.py`` are the source of docs/how-to/connect-a-client.md and of
dashboard/src/generated/clients.ts. ``make docs`` writes both.

Texts and code can have these placeholders:

- ``{{url}}``: the base URL for the client. ``{{namespace_url}}`` is the same URL with the namespace ``my-app`` in it.
- ``{{root}}``: the URL of the relay without the path of a route.
- ``{{prefix}}``: the prefix of tags, such as ``Service``.
- ``{{key}}``: an API key. ``{{$NAME}}`` is the API key in the environment variable NAME.
- ``{{any_key}}``: a key that a simulated upstream accepts. A line with this placeholder is left out if the upstream is
  not simulated, because the client then reads its key from the environment.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

#: The languages of snippets. ``text`` is for the fields of a form.
Language = Literal["sh", "python", "js", "toml", "json", "yaml", "text"]
Group = Literal["SDKs", "Coding agents", "Apps"]
PLACEHOLDER: Final = re.compile(r"\{\{(\$?\w+)\}\}")


class Snippet(NamedTuple):
    """Code to run, or text to enter. ``place`` says where, such as the name of a file."""

    place: str
    language: Language
    code: str


class Client(NamedTuple):
    """A client program.

    ``preset`` is the preset whose route serves the client. Routes whose clients read the same variable serve it, too.
    ``tags`` says how its requests are tagged. ``notes`` say what else to know. ``tested`` is the version with which the
    setup was tried, or `None` if the setup comes only from the client's documentation or source.
    """

    id: str
    name: str
    group: Group
    preset: Literal["openai", "anthropic", "gemini", "ollama"]
    setup: tuple[Snippet, ...]
    tags: str
    notes: tuple[str, ...] = ()
    tested: str | None = None


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders of a text.

    Lines with a placeholder that has no value are left out. ``{{$NAME}}`` without a value becomes ``$NAME``.
    """
    lines = [line for line in text.split("\n") if all(_is_known(name, values) for name in PLACEHOLDER.findall(line))]
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[1]), "\n".join(lines))


def _is_known(name: str, values: Mapping[str, str]) -> bool:
    return name in values or name.startswith("$")
