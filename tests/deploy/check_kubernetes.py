"""Validate rendered Kubernetes objects: ``python -m tests.deploy.check_kubernetes FILE...``.

Each object is compared with two strict schemas, for the oldest and the newest version of Kubernetes that
docs/how-to/run-on-kubernetes.md names. Objects for the Prometheus operator are only counted, because they have no
schema here. Exits with 1 if an object is invalid or no file is given.
"""

import sys
from pathlib import Path
from typing import Final

import kubernetes_validate
import yaml

VERSIONS: Final = ("1.30", "1.37")


def problems(path: Path) -> list[str]:
    found, checked, custom = [], 0, 0
    for each in yaml.safe_load_all(path.read_text("utf-8")):
        if each["apiVersion"].startswith("monitoring.coreos.com/"):
            custom += 1
            continue
        checked += 1
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(each, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                place = ".".join(map(str, error.path))
                found.append(f"{each['kind']} {each['metadata']['name']}, {version}: {place}: {error.message}")
    print(f"{path}: {checked} objects compared with schemas, {custom} of the Prometheus operator not")
    return found


if __name__ == "__main__":
    all_problems = [each for name in sys.argv[1:] for each in problems(Path(name))]
    print("\n".join(all_problems), end="\n" if all_problems else "")
    sys.exit(bool(all_problems) or len(sys.argv) < 2)
