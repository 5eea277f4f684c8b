"""Define names of files in a store's directory. Several modules use these names."""

from typing import Final

#: The SQLite database. A shared store does not have this file.
DATABASE: Final = "relaybook.sqlite"
#: The directory of the packs.
BODIES: Final = "bodies"
#: The file with the name of this machine's recorder. Only a shared store has this file.
RECORDER: Final = "recorder"
#: The file that the single writer locks.
LOCK: Final = "store.lock"
