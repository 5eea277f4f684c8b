"""Calculate what a log in ClickHouse needs: ``python -m benchmarks.clickhouse_cost``.

CPU times and sizes are results of the parts ``relay_requests``, ``recorder`` and ``clickhouse`` in benchmarks/latest.
The CPU time of ClickHouse includes all merges. A process is planned to use at most 60 % of a core, so that it catches
up after a peak. docs/how-to/scale.md has the tables.
"""

import json
import sys
from math import ceil
from pathlib import Path
from typing import Final

RATES: Final = (1_000, 10_000, 100_000, 1_000_000)
_LATEST: Final = Path(__file__).parent / "latest"
_USED: Final = 0.6
_DAY_SECONDS: Final = 86_400


def figure(part: str, what: str) -> float:
    """Return a result of a part of the benchmark. Exits with a message if the latest run did not measure it."""
    figures = json.loads((_LATEST / f"{part}.json").read_text())["figures"]
    for each in figures:
        if each["what"] == what:
            return float(each["value"])
    sys.exit(
        f"The latest run of the part {part} did not measure “{what}”. Run python -m benchmarks {part}, without "
        "RELAYBOOK_BIG_LOG_STORE."
    )


def cpu_us() -> dict[str, float]:
    """Return the CPU time per request of each role, in µs."""
    read_and_build = figure("recorder", "CPU per record") - figure("recorder", "step: commit")
    return {
        "relay": figure("relay_requests", "five headers: relay, compiled"),
        "recorder": read_and_build + figure("clickhouse", "insert: CPU of the recorder per request"),
        "ClickHouse": figure("clickhouse", "large log: CPU of ClickHouse per inserted row, with merges"),
    }


def main() -> None:
    """Print the table of costs, and the CPU times beside those of three servers on one log."""
    spent, stored = cpu_us(), figure("clickhouse", "ClickHouse: bytes per request")
    print("| requests per second | relays | recorders | cores for ClickHouse | disk per day |")
    print("|---:|---:|---:|---:|---:|")
    for rate in RATES:
        relays, recorders, cores = (max(1, ceil(rate * spent[role] / 1e6 / _USED)) for role in spent)
        print(f"| {rate:,} | {relays:,} | {recorders:,} | {cores:,} | {rate * _DAY_SECONDS * stored / 1e9:,.0f} GB |")
    print("\n| role | model, µs | three servers, µs |\n|---|---:|---:|")
    for role, modelled in spent.items():
        print(f"| {role} | {modelled:.0f} | {figure('clickhouse', f'servers: CPU of {role} per request'):.0f} |")


if __name__ == "__main__":
    main()
