"""One run of the journal while the recorder reads it: frames go in, ended exchanges come out, its position is told."""

from pathlib import Path

from relaybook.journal.reader import START, Place, RunReader
from relaybook.recorder.fold import Fold, decode_exchange
from relaybook.stores.base import Moved, RunPosition


class Run:
    """The run at ``path``, read on from ``position`` with what the store ``moved`` out of it; None: from its start."""

    def __init__(self, path: Path, position: RunPosition | None, moved: list[Moved]) -> None:
        start = Place(*position.replay_from) if position else START
        self.name = path.name
        self._recorded = position
        self.reader = RunReader(path, start, told_to=self._recorded_to)
        self.fold = Fold(self._recorded_to, (decode_exchange(each.state) for each in moved))
        self.lost_told = 0

    @property
    def _recorded_to(self) -> int:
        return self._recorded.read_to[2] if self._recorded else 0

    @property
    def is_replaying(self) -> bool:
        """Whether what is read now was read before a restart: exchanges of it may be recorded already."""
        return self.reader.place.number < self._recorded_to

    def position(self) -> RunPosition:
        """How far the run was read, and where reading must begin again for the exchanges that are open."""
        if self._recorded is not None and self.is_replaying:
            return self._recorded
        place = self.reader.place
        read_to = (place.segment, place.offset, place.number)
        needed = self.fold.first_needed()
        # a place says which number was the last before it
        replay_from = (needed[0], needed[1], needed[2] - 1) if needed else read_to
        return RunPosition(read_to=read_to, replay_from=replay_from)
