"""Define the requests that one client sends, with their parameters and faults."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from relaybook_demo.samples.personas import App

Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of a request: directives for the simulated upstream, settings of the client, or both."""

    directives: dict[str, str] = field(default_factory=dict)
    key: str | None = None
    model: str | None = None
    streamed: bool | None = None
    cancel_after_chunks: int | None = None
    timeout_s: float | None = None
    retries: int = 0


RATE_LIMITED: Final = Fault(directives={"Sim-Status": "429"})
RETRIED: Final = Fault(directives={"Sim-Status": "429", "Sim-Header": "retry-after-ms: 600"}, retries=2)
OVERLOADED: Final = Fault(directives={"Sim-Status": "503"})
UNKNOWN_MODEL: Final = Fault(model="gtp-4o-mini")
WRONG_KEY: Final = Fault(key="sk-invalid-key-of-last-year-41d0")
CONNECTION_RESET: Final = Fault(directives={"Sim-Break": "event:16 rst"}, streamed=True)
ERROR_IN_STREAM: Final = Fault(directives={"Sim-Error-Event": "12"}, streamed=True)
SLOW: Final = Fault(directives={"Sim-First-Token-Ms": "9000"}, streamed=True)
CLIENT_CANCELS: Final = Fault(streamed=True, cancel_after_chunks=14)
CLIENT_TIMEOUT: Final = Fault(directives={"Sim-First-Token-Ms": "9000"}, timeout_s=3.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The requests of one client. Each request is sent after the response to the previous request.

    If ``namespace`` is `None`, no namespace header is sent. ``tool`` is the tool that is offered to the model.
    ``directives`` are headers for the simulated upstream, and replace the headers for the usual speed. ``fault`` is the
    fault of turn ``fault_turn``, from 0. For ``embeddings``, the turns are the inputs.
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
    fault: Fault | None = None
    fault_turn: int = 0
