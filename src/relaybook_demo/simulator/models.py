"""List the models of the simulated upstream."""

from typing import Final
from urllib.parse import unquote

from relaybook_demo.simulator.replies import Reply, json_reply, unknown_model

PREFIXES: Final = ("gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-", "sim-")
LISTED: Final = (
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5",
    "gpt-5-mini",
    "chatgpt-4o-latest",
    "o3",
    "o4-mini",
    "text-embedding-3-small",
    "text-embedding-3-large",
    "sim-echo",
)
_CREATED: Final = 1_715_367_049


def is_known(model: str) -> bool:
    """Return whether a model exists, which means that its name starts with one of ``PREFIXES``."""
    return model.startswith(PREFIXES)


def list_models() -> Reply:
    """Respond to ``GET /v1/models``."""
    return json_reply({"object": "list", "data": [_model(name) for name in LISTED]})


def show_model(segment: str) -> Reply:
    """Respond to ``GET /v1/models/{id}``. The segment may be percent-encoded, because SDKs encode it."""
    model = unquote(segment)
    return json_reply(_model(model)) if is_known(model) else unknown_model(model)


def _model(name: str) -> dict[str, object]:
    owner = "simulator" if name.startswith("sim-") else "openai"
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": owner}
