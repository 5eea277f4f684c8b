"""Runs parts of the benchmark: ``python -m benchmarks [part …]``; all but ``big_log`` without a name."""

import argparse
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks import results
from benchmarks.bench import Bench
from benchmarks.machine import describe_machine, load_average, now, uncommitted

PARTS = [
    "relay_requests",
    "streams",
    "recorder",
    "memory",
    "latency",
    "chunk_delay",
    "cancel",
    "visible",
    "attacks",
    "load",
    "idle",
    "recovery",
    "page",
    "capacity",
    "comparison",
    "big_log",
]
#: Takes an hour to make what it measures: only when it is named.
_BY_NAME_ONLY = ("big_log",)
_SOURCE = Path(__file__).parent.parent / "src"


def main() -> int:
    """0 also when a goal is missed: the tables say so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what Relaybook costs.")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument(
        "--python", default=sys.executable, help="interpreter of the measured server (same minor version)"
    )
    parser.add_argument("--source", type=Path, default=_SOURCE, help="another source tree to measure")
    parser.add_argument("--keep-as", default="", metavar="NOTE", help="keep the result beside others, not for the page")
    parser.add_argument("--quick", action="store_true", help="a few seconds a part, to try the scripts; keeps nothing")
    parser.add_argument("--page", action="store_true", help="only write the tables into docs/benchmarks.md again")
    wanted = parser.parse_args()
    if unknown := set(wanted.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if wanted.page:
        results.write_page(PARTS)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every program started here is ended
    machine = describe_machine(wanted.python, wanted.source)
    changed = [] if wanted.quick else uncommitted(wanted.source)
    if changed:
        print(
            f"Nothing will be kept: {', '.join(changed)} differs from the commit {machine['commit']}. Commit it first."
        )
    for part in wanted.parts or [part for part in PARTS if part not in _BY_NAME_ONLY]:
        with tempfile.TemporaryDirectory(prefix="relaybook-bench-") as directory:
            bench = Bench(Path(directory), wanted.python, wanted.source.resolve(), wanted.quick)
            began, load = now(), load_average()
            print(f"{part} …", flush=True)
            result = import_module(f"benchmarks.parts.{part}").run(bench)
            if not wanted.quick and not changed:
                kept = results.keep(result, machine, began, (load, load_average()), wanted.keep_as)
                print(f"kept in {kept.name}")
            print("\n".join(results.table(result.plain())), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
