"""One run of the journal while the recorder reads it: frames go in, ended exchanges come out, its position is told."""

from pathlib import Path

from relaybook.journal.reader import Place, RunReader
from relaybook.recorder.fold import Fold, decode_exchange
from relaybook.stores.base import Moved, RunPosition


class Run:
    """The run at ``path``, read on from ``position`` with what the store ``moved`` out of it; None: from its start."""

    def __init__(self, path: Path, position: RunPosition | None, moved: list[Moved]) -> None:
        start = Place(*position.replay_from) if position else None
        self.name = path.name
        self.reader = RunReader(path, start) if start else RunReader(path)
        recorded_to = position.read_to[2] if position else 0
        self.fold = Fold(recorded_to, (decode_exchange(each.state) for each in moved))
        self.lost_told = 0

    def position(self) -> RunPosition:
        """How far the run was read, and where reading must begin again for the exchanges that are open."""
        place = self.reader.place
        read_to = (place.segment, place.offset, place.number)
        needed = self.fold.first_needed()
        # a place says which number was the last before it
        replay_from = (needed[0], needed[1], needed[2] - 1) if needed else read_to
        return RunPosition(read_to=read_to, replay_from=replay_from)
