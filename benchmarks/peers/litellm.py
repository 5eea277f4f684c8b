"""Run the LiteLLM proxy without a database, with the settings that its best practices for production recommend.

``python -m benchmarks.peers`` installs LiteLLM. LiteLLM has one uvicorn worker, ``LITELLM_LOG=ERROR``,
``LITELLM_MODE=PRODUCTION``, a master key and no verbose logging. Without a database, LiteLLM writes no spend log, so it
logs nothing. Two settings are changed. Client connections stay open for 300 s as with nginx (default 5), and prices are
read from LiteLLM's package instead of the network. LiteLLM uses the same Python as Relaybook.
"""

import json
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.peers.installed import package_version, packages
from benchmarks.peers.peer import StartedPeer, Upstream, new_port
from benchmarks.traffic.messages import FIVE

_MODEL = "gpt-4o-mini"
_RUN = "import sys; from litellm import run_server; sys.argv[0] = 'litellm'; run_server()"


class LiteLLM(StartedPeer):
    """The process of LiteLLM."""

    name = "LiteLLM"


def start(bench: Bench, place: Path, upstream: Upstream) -> LiteLLM:
    """Start LiteLLM with one model. The master key of LiteLLM is the key that clients send to all proxies."""
    installed = packages("litellm")
    key = FIVE.request["Authorization"].removeprefix("Bearer ")
    parameters = {"model": f"openai/{_MODEL}", "api_base": upstream.url, "api_key": key}
    configuration = {
        "model_list": [{"model_name": _MODEL, "litellm_params": parameters}],
        "general_settings": {"master_key": key, "proxy_batch_write_at": 60},
        "litellm_settings": {"request_timeout": 600, "set_verbose": False, "json_logs": True},
    }
    path = place / "config.yaml"
    path.write_text(json.dumps(configuration, indent=1))  # JSON is YAML
    port = new_port()
    environment = {
        "PYTHONPATH": str(installed),
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "ERROR",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    if upstream.ca_file is not None:
        environment["SSL_CERT_FILE"] = str(upstream.ca_file)
    # -S hides the packages that are installed with Relaybook.
    command = [bench.python, "-S", "-c", _RUN, "--host", "127.0.0.1", "--port", str(port), "--config", str(path)]
    command += ["--num_workers", "1", "--keepalive_timeout", "300"]
    return LiteLLM(place, command, port, package_version("litellm", "litellm"), environment)
