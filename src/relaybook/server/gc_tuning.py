"""Run Python's cyclic garbage collector less often.

By default, the collector runs whenever the number of created objects exceeds the number of freed objects by 700 (Python
3.11) or 2,000 (Python 3.14). This default is expensive for a process that creates thousands of objects without cycles
and frees them together. With the default, the collector took a seventh of the recorder's time
(benchmarks/parts/recorder.py), and 35 ms of the 110 ms that the slowest ``/api/stats`` responses took.
"""

import gc
from typing import Final

#: This threshold is above the number of objects in a recorder batch or in the largest ``/api/stats`` response.
_THRESHOLD: Final = 200_000


def collect_rarely() -> None:
    """Raise the threshold of Python's garbage collector, and exclude all existing objects from collection."""
    gc.freeze()
    gc.set_threshold(_THRESHOLD, 20, 100)
