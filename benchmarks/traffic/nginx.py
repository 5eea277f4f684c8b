"""Run nginx as an upstream that responds immediately, and as a plain proxy for comparison.

nginx has one worker and no access log.
"""

import socket
import subprocess
from pathlib import Path
from typing import Self

from tests.support.server import wait_until

from benchmarks.traffic.messages import ANSWER_BODY, HeaderSet

_MAIN = """
daemon off; master_process off; worker_rlimit_nofile 20000; pid {place}/pid; error_log {place}/error.log error;
events {{ worker_connections 16384; }}
http {{
  access_log off; server_tokens off; tcp_nodelay on; keepalive_timeout 300s; keepalive_requests 1000000000;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
{blocks}
}}
"""
_PROXY = """
  upstream provider_{port} {{
    server 127.0.0.1:{provider}; keepalive 1024; keepalive_requests 1000000000; keepalive_timeout 300s;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://provider_{port}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
      proxy_read_timeout 600s;
    }}
  }}
"""
_PROVIDER = """
  server {{
    listen 127.0.0.1:{port} backlog=4096; default_type application/json;
    location / {{
{headers}
      return 200 '{body}';
    }}
  }}
"""


class Nginx:
    """One nginx with one worker. ``pid`` is its process."""

    def __init__(self, place: Path, blocks: str, port: int) -> None:
        """Wait until ``port`` accepts connections."""
        config = place / "nginx.conf"
        config.write_text(_MAIN.format(place=place, blocks=blocks))
        self._process = subprocess.Popen(["nginx", "-p", str(place), "-c", str(config)], stderr=subprocess.DEVNULL)
        self.pid = self._process.pid
        self.port = port
        wait_until(lambda: _accepts(port), 10, "nginx")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)


def start_proxy(place: Path, provider_port: int) -> Nginx:
    """Return nginx as a proxy without buffering and with persistent connections to client and upstream."""
    port = free_port()
    return Nginx(place, _PROXY.format(port=port, provider=provider_port), port)


def start_provider(place: Path, headers: HeaderSet) -> Nginx:
    """Return nginx as an upstream that immediately responds to every request with the same completion."""
    port = free_port()
    lines = "\n".join(f"      add_header {name} '{value}';" for name, value in headers.answer.items())
    return Nginx(place, _PROVIDER.format(port=port, headers=lines, body=ANSWER_BODY.decode()), port)


def free_port() -> int:
    """Return a port that is not in use now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False
