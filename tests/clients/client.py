"""Describe a client program: how it is installed, configured and run, and what it is expected to send."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

#: What a tool prints. The prompt does not contain this text, so only a tool that ran can return it.
PRINTED: Final = "RELAYBOOK"
#: A command that prints it.
SHELL: Final = "echo relaybook | tr a-z A-Z"
#: The prompt that continues the conversation. It names no tool, so the response is a text.
SECOND_PROMPT: Final = "Thank you. What is a good name for a cat?"


@dataclass(frozen=True)
class Setup:
    """What a client is configured with.

    ``base`` is the base URL of the default route, with ``/v1``. ``anthropic`` and ``gemini`` are the base URLs of the
    routes with these presets, without a version. ``key`` is an API key that the simulator accepts.
    """

    base: str
    anthropic: str
    gemini: str
    prompt: str
    #: The tags that the client sends with its own setting for headers.
    headers: dict[str, str]
    home: Path
    work: Path
    key: str = "sk-client-test-0123456789"


@dataclass(frozen=True)
class Run:
    """How a client runs. ``files`` are written below the home directory before the first command."""

    commands: Sequence[Sequence[str]]
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    stdin: str = ""


@dataclass(frozen=True)
class Client:
    """A client program of a fixed version."""

    name: str
    registry: Literal["npm", "pypi"]
    package: str
    version: str
    #: The kind of its requests with prompts.
    kind: str
    run: Callable[[Setup], Run]
    #: The tool that the prompt names, with arguments. `None` if the client offers no tools to the model.
    tool: tuple[str, dict[str, Any]] | None = None
    #: The number of requests in its conversation.
    turns: int = 3
    #: Tools that a subagent calls, after the tool that started it.
    tools_of_subagent: tuple[str, ...] = ()
    sends_session: bool = False
    sends_user: bool = False
    #: Whether it can send headers. Otherwise its base URL has the namespace, and there is no property.
    sends_headers: bool = True
    #: Codes of requests that the relay refuses.
    refused: frozenset[str] = frozenset()

    @property
    def prompt(self) -> str:
        """The first prompt."""
        if self.tool is None:
            return "Please explain how a heat pump works."
        name, arguments = self.tool
        return f"Call the tool {name} with {json.dumps(arguments)} Then tell me the result."
