"""Rehearse the alerts: ``python -m tests.deploy.rehearse_alerts``. The rehearsal must run as root.

It needs Debian's packages prometheus and prometheus-blackbox-exporter.

A real Prometheus with the rules in deploy/prometheus scrapes a real server. The rehearsal causes one failure after
another and waits for each alert: the upstream fails, the recorder stops, the disk fills up, and the dashboard stops.
The scrape interval and ``for`` are shortened, but the thresholds are not. The rehearsal takes about two minutes. Exits
with 1 if an alert does not fire, or if an alert fires while nothing is wrong.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.deploy.rehearse_image import free_ports
from tests.support.raw_http import send_request
from tests.support.server import Program, Server, SimulatedProvider, wait_until
from tests.support.tree import ROOT

GIB: Final = 1 << 30
RULES: Final = ROOT / "deploy" / "prometheus" / "rules.yaml"
#: Replaces the Python process with Prometheus, so that Prometheus has the pid of the ``Program``.
EXEC: Final = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
CONFIG: Final = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: relaybook
    static_configs: [{{targets: ["{target}"]}}]
  - job_name: relaybook-readyz
    metrics_path: /probe
    params: {{module: [http_2xx], target: ["{readyz}"]}}
    static_configs: [{{targets: ["{exporter}"]}}]
"""


class BlackboxExporter(Program):
    """Probes URLs for Prometheus, with the configuration of Debian's package."""

    def __init__(self, directory: Path) -> None:
        self.address = f"127.0.0.1:{free_ports()[0]}"
        flags = ["--config.file=/etc/prometheus/blackbox.yml", f"--web.listen-address={self.address}"]
        super().__init__(["-c", EXEC, "prometheus-blackbox-exporter", *flags], directory, "exporter")


class Prometheus(Program):
    """Prometheus with the rules in deploy/prometheus. Each ``for`` is shortened to two seconds."""

    def __init__(self, directory: Path, target: str, readyz: str, exporter: str) -> None:
        (directory / "rules.yaml").write_text(re.sub(r"\bfor: \S+", "for: 2s", RULES.read_text("utf-8")))
        config = CONFIG.format(target=target, readyz=readyz, exporter=exporter)
        (directory / "prometheus.yaml").write_text(config)
        self._address = f"127.0.0.1:{free_ports()[0]}"
        flags = [f"--config.file={directory}/prometheus.yaml", f"--storage.tsdb.path={directory}/prometheus"]
        flags.append(f"--web.listen-address={self._address}")
        super().__init__(["-c", EXEC, "prometheus", *flags], directory, "prometheus")

    def samples(self) -> int:
        """Return how many times Prometheus has scraped the server."""
        query = "/api/v1/query?query=count_over_time(up[1h])"
        return max((int(each["value"][1]) for each in self._get(query).get("result", ())), default=0)

    def firing(self) -> set[str]:
        """Return the names of the alerts that are firing."""
        alerts = self._get("/api/v1/alerts").get("alerts", ())
        return {each["labels"]["alertname"] for each in alerts if each["state"] == "firing"}

    def _get(self, path: str) -> dict[str, list[dict[str, dict[str, str]]]]:
        try:
            with urllib.request.urlopen(f"http://{self._address}{path}", timeout=10) as response:
                return json.load(response)["data"]
        except OSError:
            return {}  # Prometheus is still starting

    def wait_for(self, alert: str, seconds: float) -> None:
        started = time.monotonic()
        wait_until(lambda: alert in self.firing(), seconds, alert)
        print(f"{alert}: after {time.monotonic() - started:.0f} s; firing: {', '.join(sorted(self.firing()))}")


@contextmanager
def mounted_disk(directory: Path) -> Iterator[Path]:
    """Mount a disk in memory with a size of 1 TiB. The disk uses memory only for the data that is written."""
    directory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1t", "relaybook-rehearsal", str(directory)], check=True)
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def resize(directory: Path, size: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(directory)], check=True)


def rehearse(directory: Path, disk: Path) -> bool:
    with (
        SimulatedProvider() as provider,
        Server(directory, provider.url, "--min-free", str(GIB), data=disk / "data") as server,
    ):
        for _ in range(20):
            assert send_request(server.port).status == 200
        exporter = BlackboxExporter(directory)
        target, readyz = server.dashboard.removeprefix("http://").rstrip("/"), f"http://127.0.0.1:{server.port}/readyz"
        prometheus = Prometheus(directory, target, readyz, exporter.address)
        try:
            wait_until(lambda: prometheus.samples() > 10, 60, "scraping")
            print(f"nothing is wrong: {prometheus.samples()} scrapes, firing: {prometheus.firing() or 'none'}")
            if prometheus.firing():
                return False
            provider.stop()
            for _ in range(20):
                assert send_request(server.port).status == 502
            prometheus.wait_for("RelaybookRequestsFail", 60)
            recorder = server.pid_of("recorder")
            os.kill(recorder, signal.SIGSTOP)
            send_request(server.port)
            prometheus.wait_for("RelaybookLogLags", 120)
            os.kill(recorder, signal.SIGCONT)
            wait_until(lambda: "RelaybookLogLags" not in prometheus.firing(), 60, "the end of RelaybookLogLags")
            resize(disk, 5 * GIB)
            prometheus.wait_for("RelaybookDiskFillsUp", 60)
            resize(disk, GIB // 2)
            wait_until(lambda: send_request(server.port).status == 503, 60, "refusing")
            prometheus.wait_for("RelaybookNotReady", 60)
            resize(disk, 5 * GIB)  # refused requests are counted once the log can be written again
            prometheus.wait_for("RelaybookRefuses", 60)
            os.kill(server.pid_of("dashboard"), signal.SIGSTOP)
            prometheus.wait_for("RelaybookMetricsMissing", 60)
            os.kill(server.pid_of("dashboard"), signal.SIGCONT)
            return True
        finally:
            prometheus.stop()
            exporter.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made, mounted_disk(Path(made) / "disk") as mounted:
        sys.exit(0 if rehearse(Path(made), mounted) else 1)
