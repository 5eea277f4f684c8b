"""Test that the recorder requests long time slices from the kernel."""

import ctypes
import errno
import os
import platform
import struct
import subprocess
import sys

import pytest

_SCHED_GETATTR = {"x86_64": 315, "aarch64": 275, "riscv64": 275}
_ATTRIBUTES = struct.Struct("=IIQiIQQQ")

#: Prints the policy, nice value and time slice of the calling thread, and then of a thread that is started later.
_PRINT_SLICES = f"""
import ctypes, os, struct, threading
from relaybook.server.recording import take_long_slices

def print_slices():
    buffer = ctypes.create_string_buffer({_ATTRIBUTES.size})
    ctypes.CDLL(None).syscall({_SCHED_GETATTR.get(platform.machine(), 0)}, 0, buffer, {_ATTRIBUTES.size}, 0)
    _, policy, _, nice, _, slice_ns, _, _ = struct.unpack("{_ATTRIBUTES.format}", buffer.raw)
    print(policy, nice, slice_ns)

if CHANGES:
    CHANGES()
take_long_slices()
print_slices()
other = threading.Thread(target=print_slices)
other.start()
other.join()
"""


def _slices(changes: str = "None") -> list[list[int]]:
    code = _PRINT_SLICES.replace("CHANGES", f"({changes})")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [[int(each) for each in line.split()] for line in done.stdout.splitlines()]


def _kernel_has_slices() -> bool:
    if sys.platform != "linux" or platform.machine() not in _SCHED_GETATTR:
        return False
    buffer = ctypes.create_string_buffer(_ATTRIBUTES.size)
    ctypes.CDLL(None).syscall(_SCHED_GETATTR[platform.machine()], 0, buffer, _ATTRIBUTES.size, 0)
    return bool(_ATTRIBUTES.unpack(buffer.raw)[5])


needs_slices = pytest.mark.skipif(not _kernel_has_slices(), reason="needs a kernel with time slices: Linux 6.12")


@needs_slices
def test_every_thread_gets_long_slices_and_keeps_its_priority() -> None:
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    assert _slices() == [[os.SCHED_OTHER, nice, 100_000_000]] * 2
    assert _slices("lambda: os.nice(3)") == [[os.SCHED_OTHER, nice + 3, 100_000_000]] * 2


@needs_slices
def test_another_scheduling_policy_is_not_changed() -> None:
    batch = "lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))"
    assert [(policy, slice_ns < 100_000_000) for policy, _, slice_ns in _slices(batch)] == [(os.SCHED_BATCH, True)] * 2


def test_an_unsupported_machine_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")
    monkeypatch.setattr(ctypes, "CDLL", None)  # any call of ``ctypes.CDLL`` would raise
    from relaybook.server.recording import take_long_slices

    take_long_slices()


def test_a_system_without_scheduling_policies_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(_: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "sched_getscheduler", unsupported, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", None)
    from relaybook.server.recording import take_long_slices

    take_long_slices()
