"""Test how processes are identified and prepared."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.needs import PREFIX

from relaybook.system.process import collect_rarely, process_identity

LINUX = pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}/proc")


@LINUX
def test_two_processes_differ_and_one_stays_the_same() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            identity = process_identity(other.pid)
            assert identity == process_identity(other.pid) != process_identity(os.getpid())
        finally:
            other.kill()
    assert process_identity(other.pid) is None


@LINUX
def test_the_name_of_a_program_may_contain_spaces_and_parentheses(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as other:
        try:
            assert str(process_identity(other.pid)).split()[1].isdigit()
            assert int(str(process_identity(other.pid)).split()[1]) > 1000
        finally:
            other.kill()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_gets_the_descriptor_of_a_closed_standard_stream(closed: str) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from relaybook.system.process import open_standard_streams\n"
        "open_standard_streams()\n"
        "assert os.open('/', os.O_RDONLY) > 2\n"
        "for each in (sys.stdin, sys.stdout, sys.stderr):\n"
        "    os.fstat(each.fileno())\n"
        "print('text')\n"
        "subprocess.run([sys.executable, '-c', 'import os; [os.fstat(n) for n in range(3)]'], check=True)\n"
    )
    command = ["sh", "-c", f'"$0" -c "$1" {closed}', sys.executable, code]
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_existing_objects_are_frozen_and_the_threshold_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda *numbers: calls.append(numbers))
    collect_rarely()
    assert calls == ["freeze", (200_000, 20, 100)]
