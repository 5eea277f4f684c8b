"""How often a process looks for garbage in cycles.

Python looks each time 700 more objects were made than freed. A process that makes them by the thousand, holds no cycles
among them and lets them go together pays for that again and again: a seventh of the recorder's time
(benchmarks/parts/recorder.py), 35 of the 110 ms of the slowest answers of ``/api/stats``.
"""

import gc
from typing import Final

#: More than a batch of the recorder, or the answer with the most sums, is made of.
_OBJECTS: Final = 200_000


def collect_rarely() -> None:
    """From now on only when there are so many more; what is here already is never looked at again."""
    gc.freeze()
    gc.set_threshold(_OBJECTS, 20, 100)
