"""Fill a store with a log of any size: ``python -m benchmarks.big_log <directory> --records 10000000``.

``--store clickhouse://…`` fills an empty database of a ClickHouse server instead, with the password in
``RELAYBOOK_STORE_PASSWORD``.
"""

import argparse
import os
from pathlib import Path

from benchmarks.big_log.facts import Recipe
from benchmarks.big_log.fill import RECORDS, fill, store_of, write
from relaybook import clock
from relaybook.log.store import open_store
from relaybook.settings.definitions import Settings


def main() -> None:
    """Fill a directory that does not have a log yet."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.big_log",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="ClickHouse database to fill, clickhouse://user@host:port/database")
    parser.add_argument("--ends-at", type=int, help="microseconds since the epoch; default: now")
    asked = parser.parse_args()
    if store_of(asked.directory).exists():
        parser.error(f"{asked.directory} has a log already")
    recipe = Recipe(asked.records, asked.ends_at or clock.wall_us(), asked.seed)
    if asked.store is None:
        figures = fill(asked.directory, recipe)
    else:
        settings = Settings(store=asked.store, store_password=os.environ.get("RELAYBOOK_STORE_PASSWORD"))
        figures = write(open_store(store_of(asked.directory), settings).open_writer(), recipe)
        recipe.keep(asked.directory)
    for name, value in figures.items():
        per_record = f", {value / asked.records:,.0f} per record" if name.endswith("_bytes") else ""
        print(f"{name}: {value:,.1f}{per_record}")


if __name__ == "__main__":
    main()
