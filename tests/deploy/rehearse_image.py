"""Rehearse the image: ``python -m tests.deploy.rehearse_image IMAGE``. Needs a Docker daemon and host network.

The container runs read-only, without capabilities, as user 10001. The rehearsal first sends a request through the
official SDK. Then the rehearsal kills the container under load, starts it again, and stops it under load. Exits with 1
if a request is lost, if the stop cuts a response, or if the kill cuts no response.
"""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import openai
from tests.support.server import SimulatorProcess, wait_until

THREADS: Final = 16
TOKEN: Final = "token-of-the-rehearsal"
BODY: Final = json.dumps(
    {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": "Count to twenty, please."}]}
)


class Container:
    """A container of the image, with its own volume and on free ports of the host."""

    def __init__(self, image: str, upstream: str) -> None:
        self.name = f"relaybook-rehearsal-{uuid.uuid4().hex[:8]}"
        self.relay, self.dashboard = free_ports()
        self._image = image
        self._upstream = upstream
        docker("volume", "create", self.name)
        self._run()

    def _run(self) -> None:
        settings = {
            "RELAYBOOK_UPSTREAM": self._upstream,
            "RELAYBOOK_LISTEN": f"127.0.0.1:{self.relay}",
            "RELAYBOOK_DASHBOARD": f"127.0.0.1:{self.dashboard}",
            "RELAYBOOK_DASHBOARD_TOKEN": TOKEN,
            "RELAYBOOK_PORT": "tcp://10.0.0.1:4100",  # Kubernetes sets this variable for a service named relaybook
        }
        variables = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
        options = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "10001:10001"]
        docker(
            *("run", "--detach", "--name", self.name, "--network", "host", "--volume", f"{self.name}:/data"),
            *options,
            *variables,
            self._image,
        )
        self.wait_until_ready()

    def replace(self) -> None:
        """Stop the container, and start a new container with the same volume and ports."""
        docker("stop", "--time", "150", self.name)
        docker("rm", self.name)
        self._run()

    def wait_until_ready(self) -> None:
        wait_until(lambda: status_of(self.relay, "/readyz") == 200, 60, "readiness")
        wait_until(lambda: status_of(self.dashboard, "/readyz") == 200, 60, "readiness of the dashboard")

    def health(self) -> str:
        return docker("inspect", "--format", "{{.State.Health.Status}}", self.name)

    def get(self, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.dashboard, timeout=30)
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        return json.load(connection.getresponse())

    def remove(self) -> None:
        docker("rm", "--force", self.name)
        docker("volume", "rm", self.name)


class Load:
    """Threads that each stream one response after another until the relay has stopped."""

    def __init__(self, port: int) -> None:
        self._port = port
        #: The ids of responses that arrived whole (``whole``), and of responses that began and were cut (``cut``).
        self.whole: list[str] = []
        self.cut: list[str] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
                headers = {"Authorization": "Bearer sk-rehearsal", "Content-Type": "application/json"}
                connection.request("POST", "/v1/chat/completions", BODY, headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                return  # the relay has stopped
            request_id = response.headers["Service-Request-Id"]
            try:
                is_whole = response.read().rstrip().endswith(b"data: [DONE]")
            except (OSError, http.client.HTTPException):
                is_whole = False
            (self.whole if is_whole else self.cut).append(request_id)

    def wait(self) -> None:
        for thread in self._threads:
            thread.join(90)


def docker(*arguments: str) -> str:
    done = subprocess.run([os.environ.get("DOCKER", "docker"), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"docker {' '.join(arguments)} failed: {done.stderr}")
    return done.stdout.strip()


def free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def status_of(port: int, path: str) -> int:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0


def under_load(container: Container, end: Callable[[], object]) -> Load:
    """Call ``end`` when 50 responses have arrived and other requests are running. Then start the container again."""
    load = Load(container.relay)
    wait_until(lambda: len(load.whole) >= 50, 60, "load")
    end()
    load.wait()
    docker("start", container.name)
    container.wait_until_ready()
    return load


def missing(container: Container, ids: list[str]) -> list[str]:
    """Return the ids of requests that are not recorded after a minute.

    The minute gives the recorder time to read the journal of the run that ended.
    """
    deadline = time.monotonic() + 60
    while (ids := [each for each in ids if not is_recorded(container, each)]) and time.monotonic() < deadline:
        time.sleep(0.2)
    return ids


def is_recorded(container: Container, request_id: str) -> bool:
    """Return whether the log has the request, and whether the request has an outcome other than ``open``."""
    return container.get(f"/api/requests/{request_id}").get("outcome", "open") != "open"


def rehearse(image: str, directory: Path) -> bool:
    with SimulatorProcess(directory, "--tokens-per-second", "60") as provider:
        container = Container(image, provider.url)
        try:
            started = time.monotonic()
            wait_until(lambda: container.health() == "healthy", 90, "health")
            print(f"healthy after {time.monotonic() - started:.0f} s; {container.get('/api/status')['program']}")
            client = openai.OpenAI(base_url=f"http://127.0.0.1:{container.relay}/v1", api_key="sk-rehearsal")
            answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "Hi"}])
            print(f"the SDK received: {answer.choices[0].message.content}")
            killed = under_load(container, lambda: docker("kill", "--signal", "KILL", container.name))
            lost = missing(container, killed.whole + killed.cut)
            print(f"kill -9: {len(killed.whole)} whole, {len(killed.cut)} cut by the kill, {len(lost)} lost")
            stopped = under_load(container, lambda: docker("stop", "--time", "150", container.name))
            lost_by_stop = missing(container, stopped.whole + stopped.cut)
            print(f"stop: {len(stopped.whole)} whole, {len(stopped.cut)} cut, {len(lost_by_stop)} lost")
            return bool(killed.cut) and not (lost or stopped.cut or lost_by_stop)
        finally:
            container.remove()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.exit(0 if rehearse(sys.argv[1], Path(made)) else 1)
