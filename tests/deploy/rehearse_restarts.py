"""Rehearse rolling restarts: ``python -m tests.deploy.rehearse_restarts 100 [IMAGE | clickhouse]``. Needs nginx.

Two servers run behind nginx, each with its own log. If IMAGE is given, the servers are containers on the host's
network, otherwise they are processes. With ``clickhouse``, three processes share a log in ClickHouse, and each
replacement has a new data directory. Under load, the servers are replaced in turn as described in
docs/how-to/scale.md. Exits with 1 if a request is refused, a response is cut, or a request is missing in all logs.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from tests.deploy.rehearse_image import Container, free_ports, status_of
from tests.support.clickhouse.server import new_server, url_of
from tests.support.server import Program, Server, SimulatorProcess, wait_until

from relaybook.server.data_directory import DataDirectory
from relaybook.settings.store_url import DatabaseAddress

THREADS: Final = 8
BODY: Final = json.dumps({"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": "Hello"}]})
EXEC: Final = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
#: The relay listens on loopback, so it accepts only loopback names in the Host header.
NGINX: Final = """\
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  upstream relaybooks {{
    hash $http_service_namespace consistent;
{servers}
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://relaybooks;
      proxy_set_header Host 127.0.0.1;
      proxy_buffering off;
    }}
  }}
}}
"""


class Nginx(Program):
    """A running nginx in front of the relays on these ports."""

    def __init__(self, directory: Path, ports: list[int]) -> None:
        self._directory = directory
        self._ports = ports
        self.port, _ = free_ports()
        self._configure(None)
        super().__init__(["-c", EXEC, *self._command()], directory, "nginx")
        wait_until(lambda: status_of(self.port, "/readyz") == 200, 30, "nginx")

    def use_all_but(self, port: int | None) -> None:
        """Send no new requests to the relay on this port, and wait until its running requests have ended.

        If ``port`` is `None`, all relays get new requests.
        """
        before = self._workers()
        self._configure(port)
        subprocess.run([*self._command(), "-s", "reload"], check=True)
        wait_until(lambda: self._workers().isdisjoint(before), 60, "the end of the earlier nginx workers")

    def _configure(self, without: int | None) -> None:
        servers = [f"    server 127.0.0.1:{port}{' down' if port == without else ''};" for port in self._ports]
        text = NGINX.format(directory=self._directory, servers="\n".join(servers), port=self.port)
        (self._directory / "nginx.conf").write_text(text)

    def _command(self) -> list[str]:
        return ["nginx", "-c", f"{self._directory}/nginx.conf", "-e", f"{self._directory}/nginx.errors"]

    def _workers(self) -> set[str]:
        pid = self.process.pid
        return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


class Load:
    """Threads that stream responses. Each request uses a new connection and a new namespace."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stop_requested = threading.Event()
        self.whole: list[str] = []
        self.cut: list[str] = []
        #: Errors, and responses with a status other than 200.
        self.refused: list[str] = []
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def _run(self, thread: int) -> None:
        request = 0
        while not self._stop_requested.is_set():
            request += 1
            headers = {
                "Authorization": "Bearer sk-rehearsal",
                "Content-Type": "application/json",
                "Service-Namespace": f"{thread}-{request}",
            }
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            try:
                connection.request("POST", "/v1/chat/completions", BODY, headers)
                response = connection.getresponse()
                if response.status != 200:
                    self._stop_requested.wait(0.1)
                    self.refused.append(f"{response.status} {response.read()[:300]!r}")
                    continue
            except (OSError, http.client.HTTPException) as error:
                self._stop_requested.wait(0.1)
                self.refused.append(repr(error))
                continue
            request_id = response.headers["Service-Request-Id"]
            try:
                is_whole = response.read().rstrip().endswith(b"data: [DONE]")
            except (OSError, http.client.HTTPException):
                is_whole = False
            (self.whole if is_whole else self.cut).append(request_id)
            connection.close()

    def stop(self) -> None:
        self._stop_requested.set()
        for thread in self._threads:
            thread.join(90)


class ServerProcess:
    """A server that runs as a process of the host."""

    def __init__(self, directory: Path, upstream: str, log: DatabaseAddress | None = None) -> None:
        """``log`` is a shared log. Without it, the log is in the data directory."""
        directory.mkdir()
        self._directory = directory
        self._upstream = upstream
        self._log = log
        self._starts = 0
        self.relay, self._dashboard = free_ports()
        self._start()

    def _start(self) -> None:
        flags = ["--listen", f"127.0.0.1:{self.relay}", "--dashboard", f"127.0.0.1:{self._dashboard}"]
        data, variables = self._directory / "data", dict(os.environ)
        if self._log is not None:
            flags += ["--store", url_of(self._log)]
            variables["RELAYBOOK_STORE_PASSWORD"] = self._log.password
            data = self._directory / f"data-{self._starts}"
        self._server = Server(self._directory, self._upstream, *flags, data=data, env=variables)
        self._starts += 1
        wait_until(lambda: status_of(self.relay, "/readyz") == 200, 60, "readiness")
        wait_until(lambda: status_of(self._dashboard, "/readyz") == 200, 60, "readiness of the dashboard")

    def replace(self) -> None:
        """Stop the process, and start a new process with the same ports.

        The new process has the same data directory, or a new one if the log is shared.
        """
        assert self._server.stop(60) == 0
        left = list(DataDirectory(self._server.data).journal.rglob("*")) if self._log else []
        assert not left, f"{left}: {self._server.stderr}"
        self._start()

    def get(self, path: str) -> Any:
        return self._server.get(path)

    def remove(self) -> None:
        self._server.stop(60)


def ids_of(server: ServerProcess | Container) -> set[str]:
    """Wait until the whole journal is recorded, and return the ids of all records."""
    wait_until(lambda: server.get("/api/status")["journal"]["lag_bytes"] == 0, 60, "recording")
    found: set[str] = set()
    cursor = ""
    while True:
        page = server.get(f"/api/requests?limit=500{cursor}")
        found.update(record["id"] for record in page["data"])
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def rehearse(restarts: int, kind: str | None, directory: Path) -> bool:
    """Replace servers of a kind: an image, ``clickhouse``, or `None`. Return whether nothing was lost or cut."""
    with ExitStack() as stack:
        provider = stack.enter_context(SimulatorProcess(directory, "--tokens-per-second", "100"))
        log = None
        if kind == "clickhouse":
            clickhouse = new_server("a-password")
            stack.callback(clickhouse.close)
            log = clickhouse.create_log()
        servers: list[ServerProcess | Container] = []
        for number in range(3 if log else 2):
            is_image = kind is not None and log is None
            path = directory / f"server-{number}"
            servers.append(Container(kind, provider.url) if is_image else ServerProcess(path, provider.url, log))
            stack.callback(servers[-1].remove)
        nginx = Nginx(directory, [server.relay for server in servers])
        stack.callback(nginx.stop)
        load = Load(nginx.port)
        try:
            wait_until(lambda: load.whole, 60, "load")
            for number in range(restarts):
                server = servers[number % len(servers)]
                nginx.use_all_but(server.relay)
                server.replace()
                nginx.use_all_but(None)
        finally:
            load.stop()
            print("\n".join(load.refused[:5]))
        lost = {*load.whole, *load.cut}.difference(*map(ids_of, servers))
    counts = f"{len(load.whole)} whole, {len(load.refused)} refused, {len(load.cut)} cut, {len(lost)} lost"
    print(f"{restarts} replacements: {counts}")
    return bool(load.whole) and not (load.refused or load.cut or lost)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.exit(0 if rehearse(int(sys.argv[1]), next(iter(sys.argv[2:]), None), Path(made)) else 1)
