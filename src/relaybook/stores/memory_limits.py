"""What the reference store refuses, because a database would."""

import msgspec

from relaybook.stores.base import Batch
from relaybook.stores.errors import BatchRejected


def refuse_what_cannot_be_stored(batch: Batch) -> None:
    """Text must be UTF-8, whole numbers must fit 64 bits: a database would refuse the same."""
    try:
        msgspec.msgpack.encode(batch)
        numbers = (value for entry in batch.entries for value in msgspec.structs.astuple(entry.record))
        too_large = [value for value in numbers if isinstance(value, int) and not -(2**63) <= value < 2**63]
    except (ValueError, TypeError, OverflowError, msgspec.MsgspecError) as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
    if too_large:
        raise BatchRejected(f"{too_large[0]} does not fit into 64 bits.")
