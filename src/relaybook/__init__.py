"""Relaybook is a proxy that forwards LLM requests unchanged and logs each request under a namespace."""

from importlib.util import find_spec
from typing import Literal

__version__ = "0.1.0"


def program() -> Literal["compiled", "plain"]:
    """Return whether the modules that handle requests are compiled or plain Python. See compile_with_mypyc.py."""
    spec = find_spec("relaybook.clock")
    return "plain" if spec is None or str(spec.origin).endswith(".py") else "compiled"
