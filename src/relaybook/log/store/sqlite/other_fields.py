"""Encode the fields of a record that SQL never uses as one compressed column.

These fields are a quarter of a log's database, and many of them have the same value in most requests. zstd compresses
them with a dictionary, which is a file of this package. The dictionary contains typical values and the statistics of
text, and no data from any log. A log can be read only with the dictionary with which it was written. So another
dictionary needs another version of the schema. ``benchmarks/train_dictionary.py`` made the dictionary.
"""

import threading
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec
import zstandard

from relaybook.log.record import Record

#: The fields, in the order in which they are stored.
OTHER_FIELDS: Final = (
    "upstream",
    "method",
    "query",
    "client_address",
    "user_agent",
    "response_model",
    "stream",
    "stream_requested",
    "error_message",
    "tokens_estimated",
    "prices_version",
    "safety_identifier",
    "prompt_cache_key",
    "provider_request_id",
    "client_request_id",
    "trace_id",
    "input_preview",
    "output_preview",
    "body_state",
)
#: The fields that are removed when the content expires.
_OF_CONTENT: Final = ("error_message", "input_preview", "output_preview")
#: The values of the fields, by name, if the column is damaged.
UNKNOWN: Final = {field.name: field.default for field in msgspec.structs.fields(Record) if field.name in OTHER_FIELDS}

DICTIONARY: Final = zstandard.ZstdCompressionDict(
    files("relaybook.log.store.sqlite").joinpath("other_fields.dictionary").read_bytes()
)
DICTIONARY.precompute_compress(level=1)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[Any]).decode


class _Codec(threading.local):
    """A compressor and a decompressor, which are not thread-safe, for each thread."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=1, dict_data=DICTIONARY, write_dict_id=False).compress
        self.decompress = zstandard.ZstdDecompressor(dict_data=DICTIONARY).decompress


_codec: Final = _Codec()


def encode_other_fields(values: Sequence[Any]) -> bytes:
    """Return the column's value for the values of ``OTHER_FIELDS``."""
    return _codec.compress(_encode(values))


def other_fields_of(data: bytes) -> dict[str, Any]:
    """Return the values of ``OTHER_FIELDS`` by name, or ``UNKNOWN`` if the column's value is damaged.

    So a damaged value hides neither the request nor other requests. ``relaybook check`` reports it.
    """
    try:
        values = _decode(_codec.decompress(data))
    except (zstandard.ZstdError, msgspec.MsgspecError):
        return UNKNOWN
    return dict(zip(OTHER_FIELDS, values, strict=True)) if len(values) == len(OTHER_FIELDS) else UNKNOWN


def without_content(data: bytes) -> bytes:
    """Return the column's value for a request whose content expires."""
    values = other_fields_of(data) | dict.fromkeys(_OF_CONTENT)
    if values["body_state"] == "stored":
        values["body_state"] = "expired"
    return encode_other_fields([values[name] for name in OTHER_FIELDS])
