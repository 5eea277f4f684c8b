"""Generate the PrometheusRule of deploy/kubernetes from deploy/prometheus/rules.yaml. A test compares the two."""

from typing import Final

from tests.support.tree import ROOT

RULES: Final = ROOT / "deploy" / "prometheus" / "rules.yaml"
FILE: Final = ROOT / "deploy" / "kubernetes" / "monitoring" / "prometheusrule.yaml"
HEAD: Final = """\
# Generated from deploy/prometheus/rules.yaml by `make docs`; a test compares the two.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: relaybook}
spec:
"""


def prometheus_rule() -> str:
    """Return the whole file."""
    lines = RULES.read_text("utf-8").splitlines(keepends=True)
    return HEAD + "".join(f"  {line}" for line in lines if not line.startswith("#"))


if __name__ == "__main__":
    FILE.write_text(prometheus_rule(), "utf-8")
