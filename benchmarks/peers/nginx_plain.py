"""Run nginx as a plain proxy without a log, as the upper limit of performance (Debian: ``nginx-light``).

nginx has one worker, no buffering in either direction, and persistent connections to client and upstream.
"""

import re
import shutil
import subprocess
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.peer import NOTHING, NotInstalled, StartedPeer, Upstream, new_port

MAIN = """
daemon off; master_process off; worker_rlimit_nofile {files}; pid {place}/pid; error_log stderr error;
{modules}
events {{ worker_connections {files}; }}
http {{
  access_log off; server_tokens off; tcp_nodelay on; keepalive_timeout 300s; keepalive_requests 1000000000;
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  client_max_body_size 0; client_body_buffer_size 16m;
  upstream provider {{
    server 127.0.0.1:{provider}; keepalive 1024; keepalive_requests 1000000000; keepalive_timeout 300s;
  }}
{http}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass {scheme}://provider; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_read_timeout 600s;
{location}
    }}
  }}
}}
"""
_TLS = (
    "      proxy_ssl_trusted_certificate {ca}; proxy_ssl_verify on; proxy_ssl_name localhost; proxy_ssl_server_name on;"
)
_FILES = 20_000


class NginxPlain(StartedPeer):
    """The process of nginx."""

    name = "nginx"


def configure(place: Path, upstream: Upstream, port: int, *, modules: str = "", http: str = "", location: str) -> Path:
    """Write the configuration, which consists of a part for all compared nginx proxies and a specific part."""
    tls = "" if upstream.ca_file is None else _TLS.format(ca=upstream.ca_file)
    values = {"place": place, "port": port, "provider": upstream.port, "modules": modules, "http": http}
    scheme = "http" if upstream.ca_file is None else "https"
    path = place / "nginx.conf"
    path.write_text(MAIN.format(**values, scheme=scheme, location=f"{location}\n{tls}", files=_FILES))
    return path


def command(place: Path, configuration: Path) -> list[str]:
    """Return the command that starts nginx. Raises ``NotInstalled`` if nginx is missing."""
    if shutil.which("nginx") is None:
        raise NotInstalled("nginx is not installed (Debian: apt-get install nginx-light)")
    return ["nginx", "-p", str(place), "-c", str(configuration)]


def nginx_version() -> str:
    """Return the version, such as ``1.22.1``, or an empty text if nginx is missing."""
    if shutil.which("nginx") is None:
        return ""
    found = re.search(r"nginx/(\S+)", subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr)
    return found[1] if found else "unknown"


def start(bench: Bench, place: Path, upstream: Upstream) -> NginxPlain:
    """Start nginx as a proxy that forwards bytes as they arrive."""
    port = new_port()
    arguments = command(place, configure(place, upstream, port, location="      proxy_request_buffering off;"))
    return NginxPlain(place, arguments, port, nginx_version(), NOTHING)
