"""What a store says when it cannot do what it was asked for.

Three causes: the environment (full, busy, locked, I/O), what is on disk, and the data itself.
"""


class StoreUnavailable(Exception):
    """The environment refused: nothing of the batch was stored; try the same again later."""


class StoreFull(StoreUnavailable):
    """There is no room left on the disk."""


class SyncFailed(Exception):
    """A sync failed, and the system may have dropped what it could not write: only a new start writes it all again."""


class StoreDamaged(StoreUnavailable):
    """What is on disk cannot be read as a store any more; the text names the file. Trying again does not help."""


class BodyDamaged(StoreUnavailable):
    """One body's bytes cannot be read any more; the text names their file. The rest of the store is not concerned."""


class BatchRejected(Exception):
    """The data itself cannot be stored; send the batch's entries one by one to find which."""


class StoreTooNew(Exception):
    """A later version of Relaybook wrote this store; the text says which and what to do."""


class DeadlinePassed(Exception):
    """The question took longer than its deadline; its resources are free again."""
