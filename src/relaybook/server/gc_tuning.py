"""Run Python's cyclic garbage collector less often.

By default it runs when 700 more objects were created than freed. That is expensive for a process that creates thousands
of objects without cycles and frees them together: it took a seventh of the recorder's time
(benchmarks/parts/recorder.py), and 35 of the 110 ms of the slowest responses of ``/api/stats``.
"""

import gc
from typing import Final

#: More than the objects of a batch of the recorder, or of the largest response of ``/api/stats``.
_THRESHOLD: Final = 200_000


def collect_rarely() -> None:
    """Raise the threshold of the collector, and exclude all existing objects from collection."""
    gc.freeze()
    gc.set_threshold(_THRESHOLD, 20, 100)
