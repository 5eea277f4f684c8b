"""Define the configuration of a child process, and encode it as one line of JSON."""

from pathlib import Path
from typing import Any

import msgspec

from relaybook.settings.definitions import Settings


class WorkerConfig(msgspec.Struct):
    """The configuration that a child reads from its standard input.

    ``socket`` is the descriptor of the listening socket that the child inherits.
    """

    role: str
    settings: Settings
    base_url: str
    dashboard_url: str
    sample_data: bool = False
    socket: int | None = None


def encode_config(config: WorkerConfig) -> bytes:
    """Encode the configuration as one line, including the newline."""
    return msgspec.json.encode(config, enc_hook=encode_path) + b"\n"


def decode_config(line: bytes) -> WorkerConfig:
    """Decode the output of ``encode_config``. Raises msgspec.DecodeError."""
    return msgspec.json.decode(line, type=WorkerConfig, dec_hook=decode_path)


def encode_path(value: Any) -> Any:
    """Encode the paths of settings. This is the ``enc_hook`` of msgspec."""
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value)} cannot be encoded")


def decode_path(kind: type, value: Any) -> Any:
    """Decode the paths of settings. This is the ``dec_hook`` of msgspec."""
    if kind is Path or issubclass(kind, Path):
        return Path(value)
    raise NotImplementedError(f"{kind} cannot be decoded")
