"""Print the expressions of the Grafana dashboard as recording rules, so that promtool can check their syntax."""

import json

from tests.support.grafana_dashboard import FILE

if __name__ == "__main__":
    panels = json.loads(FILE.read_text("utf-8"))["panels"]
    expressions = [target["expr"].replace("$__rate_interval", "1m") for panel in panels for target in panel["targets"]]
    rules = [{"record": f"grafana:{number}", "expr": each} for number, each in enumerate(expressions)]
    print(json.dumps({"groups": [{"name": "grafana", "rules": rules}]}))
