"""Run the benchmarks: ``python -m benchmarks [part …]``. Without arguments, all parts except ``big_log`` run."""

import argparse
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.machine import describe_machine, load_average, now, uncommitted
from benchmarks.results.kept import keep, save
from benchmarks.results.page import write_page
from benchmarks.results.tables import table

PARTS = [
    "comparison",
    "relay_requests",
    "routes",
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
    "export",
    "replay",
    "conversations",
    "removal",
    "reread",
    "copying",
    "capacity",
    "big_log",
    "clickhouse",
]
#: Parts that run only when named. Creating the log of ``big_log`` takes an hour. ``clickhouse`` needs the engine, which
#: `make clickhouse` installs, and a second log of that size.
_BY_NAME_ONLY = ("big_log", "clickhouse")
_SOURCE = Path(__file__).parent.parent / "src"


def main() -> int:
    """Return 0 even if a goal is missed. The tables mark missed goals."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what Relaybook costs.")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument(
        "--python", default=sys.executable, help="interpreter of the measured server (same minor version)"
    )
    parser.add_argument("--source", type=Path, default=_SOURCE, help="another source tree to measure")
    parser.add_argument(
        "--save", type=Path, metavar="DIRECTORY", help="write results with all rounds here, not to benchmarks/latest"
    )
    parser.add_argument("--quick", action="store_true", help="run each part for a few seconds; writes no results")
    parser.add_argument("--page", action="store_true", help="only update the tables in docs/explanation/benchmarks.md")
    wanted = parser.parse_args()
    if unknown := set(wanted.parts) - set(PARTS):
        parser.error(f"unknown part: {', '.join(sorted(unknown))}. Choose from: {', '.join(PARTS)}")
    if wanted.quick and wanted.save:
        parser.error("--quick writes no results. Remove --quick or --save.")
    if wanted.page:
        write_page([*PARTS, "soak"])
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every program started here is stopped
    machine = describe_machine(wanted.python, wanted.source)
    if machine["python_is_profile_guided_build"]:
        print(f"Python {machine['python']}, built with profile-guided optimization")
    else:
        print(
            f"Python {machine['python']} was built without profile-guided optimization, so Relaybook costs more than "
            "with the Python of most users. Use the one of your distribution: make PYTHON=/usr/bin/python3",
            file=sys.stderr,
        )
    changed = [] if wanted.quick else uncommitted(wanted.source)
    if wanted.save:
        machine["uncommitted"] = changed
    elif changed:
        print(f"Results will not be kept: {', '.join(changed)} differs from {machine['commit']}. Commit first.")
    for part in wanted.parts or [part for part in PARTS if part not in _BY_NAME_ONLY]:
        with tempfile.TemporaryDirectory(prefix="relaybook-bench-") as directory:
            bench = Bench(Path(directory), wanted.python, wanted.source.resolve(), wanted.quick)
            began, load = now(), load_average()
            print(f"{part} …", flush=True)
            result = import_module(f"benchmarks.parts.{part}").run(bench)
            loads = (load, load_average())
            if wanted.save:
                print(f"written to {save(result, machine, began, loads, wanted.save)}")
            elif not wanted.quick and not changed:
                print(f"written to {keep(result, machine, began, loads)}")
            print("\n".join(table(result.plain())), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
