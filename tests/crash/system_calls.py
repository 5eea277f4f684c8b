"""Record the system calls of a program with ``strace``: file operations and sent bytes, in order."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

_CALLS: Final = (
    "open,openat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,ftruncate,fallocate,fsync,"
    "fdatasync,write,writev,pwrite64,pwritev,sendto,sendmsg,msync,sync_file_range"
)
#: A command that runs a program under strace. The output file and the program must follow. The program keeps its pid.
TRACED: Final = ("strace", "-D", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "100000000", "-e", f"trace={_CALLS}", "-o")

Kind = Literal["create", "mkdir", "rename", "remove", "write", "append", "resize", "grow", "sync", "wire"]
_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("open", "openat"), "create"),
    **dict.fromkeys(("mkdir", "mkdirat"), "mkdir"),
    **dict.fromkeys(("rename", "renameat", "renameat2"), "rename"),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), "remove"),
    **dict.fromkeys(("truncate", "ftruncate"), "resize"),
    **dict.fromkeys(("fsync", "fdatasync"), "sync"),
    **dict.fromkeys(("write", "writev", "sendto", "sendmsg"), "append"),
    **dict.fromkeys(("pwrite64", "pwritev"), "write"),
    "fallocate": "grow",
}
_LINE: Final = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(?: resumed>|\()(.*)")
_RESULT: Final = re.compile(r"\) += (-?\d+)[^\"]*$")
_STRING: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_DESCRIPTOR: Final = re.compile(r"\d+<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?")


@dataclass
class Call:
    """A successful system call. ``path`` is absolute or names a socket. ``at`` is an offset or a size."""

    kind: Kind
    path: str
    other: str = ""
    data: bytes = b""
    at: int = 0
    #: For a sync: the number of changes of the file or directory that the sync covers, and the end of the written
    #: part of the segment.
    covered: int = 0
    written: int = 0


class Step(NamedTuple):
    """The beginning or the return of a call.

    The effects of a call may happen as soon as it begins. Its guarantees hold once it has returned.
    """

    call: Call
    returned: bool


def _unquoted(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def read_trace(trace: Path, root: Path) -> list[Step]:
    """Return the operations on files below ``root`` and the bytes sent through sockets, in order."""
    begun: dict[str, tuple[int, str]] = {}
    found: list[tuple[int, int, Call]] = []
    with trace.open() as lines:
        for number, line in enumerate(lines):
            match = _LINE.match(line)
            if match is None:
                continue
            process, name, rest = match.groups()
            if rest.endswith("<unfinished ...>"):
                begun[process] = number, rest.removesuffix("<unfinished ...>").rstrip()
                continue
            started, before = begun.pop(process, (number, "")) if " resumed>" in line[:60] else (number, "")
            call = _read_call(name, before + rest, str(root))
            if call is not None:
                found.append((started, number, call))
    steps = [(started, 0, Step(call, False)) for started, _, call in found]
    steps += [(ended, 1, Step(call, True)) for _, ended, call in found]
    return [step for _, _, step in sorted(steps, key=lambda item: item[:2])]


def _read_call(name: str, text: str, root: str) -> Call | None:
    kind, result = _KINDS.get(name), _RESULT.search(text)
    assert kind is not None or name == "sync_file_range", f"the model does not know {name}"
    if kind is None or result is None or int(result[1]) < 0 or "PUNCH_HOLE" in text or not _creates(kind, text):
        return None
    strings = _STRING.findall(text)
    descriptor = _DESCRIPTOR.match(text)
    if descriptor is None or kind in ("create", "mkdir", "rename", "remove"):
        path, other = _unquoted(strings[0]).decode(), _unquoted(strings[-1]).decode()
        is_deleted = False
    else:
        path, other, is_deleted = _unquoted(descriptor[1]).decode(), "", bool(descriptor[2])
    if path.startswith("socket:") and kind == "append":
        kind = "wire"
    elif is_deleted or not path.startswith(root):
        return None
    call = Call(kind, path, other)
    if kind in ("write", "append", "wire"):
        call.data = b"".join(map(_unquoted, strings))[: int(result[1])]
    if kind in ("write", "resize", "grow"):
        numbers = [int(part) for part in text[: result.start()].split(", ")[1:] if part.isdigit()]
        call.at = sum(numbers[-2:]) if kind == "grow" else numbers[-1]
    return call


def _creates(kind: Kind, text: str) -> bool:
    return kind != "create" or "O_CREAT" in text or "O_TRUNC" in text
