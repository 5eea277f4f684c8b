"""Generate inputs by mutating known inputs.

By default, each target gets a fixed number of inputs, and every run uses the same inputs. If FUZZ_SECONDS is set, all
targets together run for that many seconds on new inputs. A failure shows up to 6,000 bytes of the input that caused it.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

#: The number of targets. Each call of ``fuzz`` in this directory is a target.
_TARGETS: Final = sum(path.read_text().count(" fuzz(") for path in Path(__file__).parent.glob("test_*.py"))
SECONDS: Final = float(os.environ.get("FUZZ_SECONDS", "0")) / _TARGETS
_LARGEST: Final = 96 << 10
_MAX_CHANGES: Final = 4
_SHOWN: Final = 6000

Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def fuzz(
    check: Callable[[bytes, random.Random], None], seeds: Sequence[bytes], words: Sequence[bytes], count: int
) -> None:
    """Run ``check`` on every seed and then on mutations of the seeds.

    Some mutations insert one of the ``words``, for example at the start of a line.
    """
    for number, (data, choices) in enumerate(_inputs(seeds, words, count)):
        try:
            check(data, choices)
        except BaseException as error:
            error.add_note(f"input {number}, {len(data)} bytes: {data[:_SHOWN]!r}")
            raise


def _inputs(seeds: Sequence[bytes], words: Sequence[bytes], count: int) -> Iterator[tuple[bytes, random.Random]]:
    choices = random.Random() if SECONDS else random.Random(20_261_121)
    until = time.monotonic() + SECONDS
    for seed in seeds:
        yield seed, choices
    mutated = 0
    while time.monotonic() < until if SECONDS else mutated < count:
        data = choices.choice(seeds)
        for _ in range(choices.randint(1, _MAX_CHANGES)):
            data = choices.choice(_CHANGES)(choices, data, [*words, choices.choice(seeds)])
        yield data[:_LARGEST], choices
        mutated += 1


def chunks(choices: random.Random, data: bytes) -> list[bytes]:
    """Return the bytes whole, byte by byte, or split at random positions, like reads from a socket."""
    if not data or choices.random() < 0.3:
        return [data]
    if len(data) < 400 and choices.random() < 0.3:
        return [data[at : at + 1] for at in range(len(data))]
    cuts = sorted({0, len(data), *(choices.randrange(len(data)) for _ in range(choices.randint(1, 8)))})
    return [data[start:end] for start, end in pairwise(cuts)]


def _span(choices: random.Random, data: bytes) -> tuple[int, int]:
    start = choices.randint(0, len(data))
    return start, min(len(data), start + choices.choice((1, 1, 2, 4, 16, 64, 1024)))


def _flip(choices: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = choices.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << choices.randrange(8)]) + data[at + 1 :]


def _overwrite(choices: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(choices, data)
    return data[:start] + choices.randbytes(end - start) + data[end:]


def _delete(choices: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(choices, data)
    return data[:start] + data[end:]


def _double(choices: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(choices, data)
    return data[:end] + data[start:end] * choices.choice((1, 2, 50)) + data[end:]


def _insert(choices: random.Random, data: bytes, words: Sequence[bytes]) -> bytes:
    line = data.find(b"\n", choices.randint(0, len(data))) + 1
    at = choices.choice((0, line, choices.randint(0, len(data))))
    return data[:at] + choices.choice(words) + data[at:]


def _replace(choices: random.Random, data: bytes, words: Sequence[bytes]) -> bytes:
    start, end = _span(choices, data)
    return data[:start] + choices.choice(words) + data[end:]


def _double_line(choices: random.Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    lines.insert(choices.randint(0, len(lines)), choices.choice([*lines, *words]))
    return b"\r\n".join(lines)


def _truncate(choices: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: choices.randint(0, len(data))]


_CHANGES: Final[Sequence[Change]] = (
    _flip,
    _overwrite,
    _delete,
    _double,
    _insert,
    _insert,
    _replace,
    _double_line,
    _double_line,
    _truncate,
)
