"""What a child is told to do, and how that travels: one line of JSON."""

from pathlib import Path
from typing import Any

import msgspec

from relaybook.settings.definitions import Settings


class WorkerConfig(msgspec.Struct):
    """What a child is told through its standard input. The input's end means: the supervisor is gone."""

    role: str
    settings: Settings
    base_url: str
    dashboard_url: str
    sample_data: bool = False
    socket: int | None = None


def encode_config(config: WorkerConfig) -> bytes:
    """One line, with its newline."""
    return msgspec.json.encode(config, enc_hook=_encode) + b"\n"


def decode_config(line: bytes) -> WorkerConfig:
    """What ``encode_config`` made."""
    return msgspec.json.decode(line, type=WorkerConfig, dec_hook=_decode)


def _encode(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value)} does not travel")


def _decode(wanted: type, value: Any) -> Any:
    if wanted is Path or issubclass(wanted, Path):
        return Path(value)
    raise NotImplementedError(f"{wanted} does not travel")
