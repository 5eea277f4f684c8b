"""List the request headers with which client programs identify themselves without any settings.

The recorder, the documentation and the page read this table.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

Meaning: TypeAlias = Literal["session", "user", "agent", "parent_agent"]


class ClientHeader(NamedTuple):
    """A request header. ``name`` is in lower case. ``clients`` are the programs that send the header."""

    name: str
    meaning: Meaning
    clients: str


#: If a request has several headers with the same meaning, the first of them in this table counts.
CLIENT_HEADERS: Final = (
    ClientHeader("x-claude-code-session-id", "session", "Claude Code"),
    ClientHeader("session-id", "session", "Codex, opencode"),
    ClientHeader("session_id", "session", "Codex"),
    ClientHeader("thread-id", "session", "Codex"),
    ClientHeader("x-session-id", "session", "opencode, clients of OpenRouter"),
    ClientHeader("x-session-affinity", "session", "opencode"),
    ClientHeader("x-opencode-session", "session", "clients of OpenCode Go"),
    ClientHeader("x-openwebui-chat-id", "session", "Open WebUI"),
    ClientHeader("x-openwebui-user-id", "user", "Open WebUI"),
    ClientHeader("x-openwebui-user-email", "user", "Open WebUI"),
    ClientHeader("x-gemini-api-privileged-user-id", "user", "Gemini CLI"),
    ClientHeader("x-claude-code-agent-id", "agent", "Claude Code"),
    ClientHeader("x-claude-code-parent-agent-id", "parent_agent", "Claude Code"),
)
