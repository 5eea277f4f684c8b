"""If a process that writes the journal is killed, every frame that it has written is read."""

import signal
import subprocess
import sys
from pathlib import Path

from relaybook.journal.frame import Frame
from relaybook.journal.reader import RunReader, list_runs


def read_all(reader: RunReader) -> list[Frame]:
    found: list[Frame] = []
    while frames := reader.read():
        found += frames
    return found


def test_no_written_frame_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom relaybook.journal.writer import JournalWriter\n"
        "w = JournalWriter(Path(sys.argv[1]), 1 << 20, durable=False)\n"
        "for n in range(10**9):\n"
        "    for k in range(5): w.append(2, b'e' * 16, b'%d-%d' % (n, k) * (1 + n % 3000))\n"
        "    w.write(); sys.stdout.write(f'{n}\\n'); sys.stdout.flush()\n"
    )
    for _ in range(5):
        command = [sys.executable, "-c", script, str(tmp_path / "journal")]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        last = -1
        for line in child.stdout:
            last = int(line)
            if last >= 300:
                child.send_signal(signal.SIGKILL)
                break
        rest = child.stdout.read().split()
        last = int(rest[-1]) if rest else last
        child.wait()
        child.stdout.close()
        (run,) = list_runs(tmp_path / "journal")
        reader = RunReader(run)
        frames = read_all(reader)
        assert reader.finished
        assert [frame.number for frame in frames] == list(range(1, len(frames) + 1))
        assert len(frames) >= (last + 1) * 5
        reader.remove()
