"""Compute the states in which a power cut may leave a directory, from the system calls of a program.

The model has the weakest guarantees that a file system may have. Bytes survive if they were synced before the cut. Each
later write may be missing, complete or torn at sectors of 512 bytes, independently of other writes. A directory entry
survives once its directory was synced. Syncing a file covers the bytes that were written before the sync began, but no
name of the file. (T. Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014.)

The mark of a journal segment is written through a memory mapping, so no system call shows the write. The model treats
it as a separate write right after the call that raises the mark (``raises_mark``).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeVar

from tests.crash.system_calls import Call, Step

from relaybook.journal.segment import HEADER_BYTES, MAGIC

T = TypeVar("T")
SECTOR: Final = 512
_MARK_AT: Final = 64


class Choice(NamedTuple):
    """One possible state: the unsynced writes and the marks that survive the power cut."""

    unsynced: Literal["none", "some", "all"]
    marks: Literal["never", "synced", "newest"]


#: Three extreme states, and two states in which random unsynced writes survive.
CHOICES: Final = (
    Choice("none", "never"),
    Choice("none", "newest"),
    Choice("all", "never"),
    Choice("some", "synced"),
    Choice("some", "newest"),
)


@dataclass
class File:
    """A file: its synced bytes and its later changes.

    A change is an offset with the bytes written there, or a new size with `None`.
    """

    synced: bytearray
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    settled: int = 0
    size: int = 0
    synced_mark: int | None = None
    mark: int | None = None
    #: The end of the written part of a segment, to which the mark can be raised.
    written: int = 0


@dataclass
class Directory:
    """A directory: its synced entries and its later changes.

    A change is a removed name, an added name, and the file or directory that has the name.
    """

    entries: "dict[str, Node]" = field(default_factory=dict)
    synced: "dict[str, Node]" = field(default_factory=dict)
    pending: "list[tuple[str | None, str | None, Node]]" = field(default_factory=list)
    settled: int = 0

    def change(self, removed: str | None, added: str | None, node: "Node") -> None:
        self.pending.append((removed, added, node))
        _change(self.entries, removed, added, node)


Node = File | Directory


def _change(entries: dict[str, Node], removed: str | None, added: str | None, node: Node) -> None:
    if removed is not None:
        entries.pop(removed, None)
    if added is not None:
        entries[added] = node


class Disk:
    """The files below ``root``.

    Their initial contents are synced. ``raises_mark`` is the kind of call after which a mark is raised.
    """

    def __init__(self, root: Path, raises_mark: Literal["write", "sync"]) -> None:
        self._root = root
        self._raises_mark = raises_mark
        self.top = _load(root)

    def apply(self, step: Step) -> None:
        """Apply one step."""
        call = step.call
        if call.kind == "sync":
            self._sync(call, returned=step.returned)
        elif not step.returned:
            self._change(call)
        elif call.kind == "write" and call.path.endswith(".segment"):
            file = self._file(call.path)
            file.written = max(call.at + len(call.data), HEADER_BYTES)
            if self._raises_mark == "write" or file.written == HEADER_BYTES:
                file.mark = file.written

    def _change(self, call: Call) -> None:
        match call.kind:
            case "write":
                self._write(self._file(call.path), call.at, call.data)
            case "append":
                file = self._file(call.path)
                self._write(file, file.size, call.data)
            case "resize":
                file = self._file(call.path)
                file.pending.append((call.at, None))
                file.size = call.at
            case "grow":
                file = self._file(call.path)
                file.pending.append((max(file.size, call.at), None))
                file.size = max(file.size, call.at)
            case "wire":
                return
            case _:
                self._change_entries(call)

    def _write(self, file: File, at: int, data: bytes) -> None:
        file.pending.append((at, data))
        file.size = max(file.size, at + len(data))

    def _change_entries(self, call: Call) -> None:
        parent, name = self._parent(call.path)
        match call.kind:
            case "create" if name not in parent.entries:
                parent.change(None, name, File(bytearray()))
            case "mkdir":
                parent.change(None, name, Directory())
            case "remove":
                parent.change(name, None, parent.entries[name])
            case "rename":
                other, new = self._parent(call.other)
                assert other is parent, "the model knows renames within one directory"
                parent.change(name, new, parent.entries[name])

    def _sync(self, call: Call, *, returned: bool) -> None:
        node = self._node(call.path)
        if not returned:
            call.covered = node.settled + len(node.pending)
            if isinstance(node, File):
                call.at = node.mark or 0
                call.written = node.written
            return
        count = max(call.covered - node.settled, 0)
        node.settled += count
        if isinstance(node, File):
            for at, data in node.pending[:count]:
                _apply(node.synced, at, data)
            node.synced_mark = call.at or node.synced_mark
            if self._raises_mark == "sync":
                node.mark = call.written
        else:
            for removed, added, what in node.pending[:count]:
                _change(node.synced, removed, added, what)
        del node.pending[:count]

    def _node(self, path: str) -> Node:
        node: Node = self.top
        for part in Path(path).relative_to(self._root).parts:
            assert isinstance(node, Directory)
            node = node.entries[part]
        return node

    def _parent(self, path: str) -> tuple[Directory, str]:
        parent = self._node(str(Path(path).parent))
        assert isinstance(parent, Directory)
        return parent, Path(path).name

    def _file(self, path: str) -> File:
        node = self._node(path)
        assert isinstance(node, File)
        return node

    def write_state(self, target: Path, choice: Choice, rng: random.Random) -> None:
        """Write to ``target`` one of the states in which a power cut at this step may leave the disk."""
        _write_directory(self.top, target, choice, rng)


def _load(path: Path) -> Directory:
    found = Directory()
    for change in path.iterdir():
        node: Node = (
            _load(change) if change.is_dir() else File(bytearray(change.read_bytes()), size=change.stat().st_size)
        )
        found.entries[change.name] = found.synced[change.name] = node
    return found


def _apply(content: bytearray, at: int, data: bytes | None) -> None:
    end = at if data is None else at + len(data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if data is None:
        del content[at:]
    else:
        content[at:end] = data


def _write_directory(directory: Directory, target: Path, choice: Choice, rng: random.Random) -> None:
    target.mkdir()
    entries = dict(directory.synced)
    for removed, added, node in _survivors(directory.pending, choice, rng):
        _change(entries, removed, added, node)
    for name, node in entries.items():
        if isinstance(node, Directory):
            _write_directory(node, target / name, choice, rng)
        # Skip SQLite's shared-memory index of its log, because SQLite rebuilds the index when it opens a database.
        elif not name.endswith("-shm"):
            (target / name).write_bytes(_content_after(node, choice, rng))


def _content_after(file: File, choice: Choice, rng: random.Random) -> bytes:
    content = bytearray(file.synced)
    for at, data in _survivors(file.pending, choice, rng):
        if data is None or choice.unsynced == "all" or rng.random() < 0.5:
            _apply(content, at, data)
        else:
            for chunk_at, chunk in _torn(at, data, rng):
                _apply(content, chunk_at, chunk)
    mark = {"never": None, "synced": file.synced_mark, "newest": file.mark}[choice.marks]
    if mark is not None and content.startswith(MAGIC):
        content[_MARK_AT : _MARK_AT + 8] = mark.to_bytes(8, "little")
    return bytes(content)


def _survivors(pending: Sequence[T], choice: Choice, rng: random.Random) -> list[T]:
    if choice.unsynced == "some":
        return [change for change in pending if rng.random() < 0.5]
    return list(pending) if choice.unsynced == "all" else []


def _torn(at: int, data: bytes, rng: random.Random) -> Iterator[tuple[int, bytes]]:
    """Yield random sectors of a write. Each sector is complete."""
    start = 0
    while start < len(data):
        end = min(start + SECTOR - (at + start) % SECTOR, len(data))
        if rng.random() < 0.5:
            yield at + start, data[start:end]
        start = end
