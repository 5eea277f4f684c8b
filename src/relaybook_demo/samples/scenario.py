"""One caller's part in the sample traffic: what it asks, how, and what goes wrong with it."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from relaybook_demo.samples.personas import App

Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accident:
    """What goes wrong with a request: by wishes to the simulated provider, by a setting of the caller's, or both."""

    directives: dict[str, str] = field(default_factory=dict)
    key: str | None = None
    model: str | None = None
    streamed: bool | None = None
    leaves_after_chunks: int | None = None
    timeout_s: float | None = None
    retries: int = 0


RATE_LIMITED: Final = Accident(directives={"Sim-Status": "429"})
RETRIED: Final = Accident(directives={"Sim-Status": "429", "Sim-Header": "retry-after-ms: 600"}, retries=2)
OVERLOADED: Final = Accident(directives={"Sim-Status": "503"})
UNKNOWN_MODEL: Final = Accident(model="gtp-4o-mini")
WRONG_KEY: Final = Accident(key="sk-invalid-key-of-last-year-41d0")
BROKEN_OFF: Final = Accident(directives={"Sim-Break": "event:16 rst"}, streamed=True)
FAILED_INSIDE: Final = Accident(directives={"Sim-Error-Event": "12"}, streamed=True)
SLOW: Final = Accident(directives={"Sim-First-Token-Ms": "9000"}, streamed=True)
HANGS_UP: Final = Accident(streamed=True, leaves_after_chunks=14)
IMPATIENT: Final = Accident(directives={"Sim-First-Token-Ms": "9000"}, timeout_s=3.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Questions of one caller, each asked when the one before is answered.

    ``namespace`` None: no header. ``tool`` names one that is offered. ``directives`` take the place of the usual pace.
    ``accident`` happens to turn ``accident_at``. ``kind``: for ``embeddings`` the turns are its texts.
    """

    app: App
    namespace: str | None
    turns: tuple[Content, ...]
    kind: Literal["chat", "responses", "embeddings", "models"] = "chat"
    model: str = "gpt-4o-mini"
    parameters: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    tool: str | None = None
    streamed: bool = False
    directives: dict[str, str] = field(default_factory=dict)
    accident: Accident | None = None
    accident_at: int = 0
