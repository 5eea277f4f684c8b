"""Node packages are locked for every platform, with hashes, and without the address of a registry."""

import json
from typing import Any

import pytest
from tests.support.tree import ROOT

#: Those of the page, of the official SDK that tests compare us with, and of a proxy that the benchmark does.
LOCKS = [
    ROOT / place / "package-lock.json" for place in ("dashboard", "tests/conformance/node", "benchmarks/peers/portkey")
]


@pytest.fixture(params=LOCKS, ids=lambda lock: lock.parent.name)
def packages(request: pytest.FixtureRequest) -> dict[str, Any]:
    """By their place below node_modules, without the project itself."""
    locked = json.loads(request.param.read_text("utf-8"))["packages"]
    return {place: package for place, package in locked.items() if place}


def test_packages_for_other_machines_are_locked_too(packages: dict[str, Any]) -> None:
    """``npm ci`` refuses a lock file that lacks one, on every machine."""
    locked = {place.rpartition("node_modules/")[2] for place in packages}
    wanted = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    assert sorted(wanted - locked) == []


def test_every_package_has_its_hash(packages: dict[str, Any]) -> None:
    bundled = [place for place, package in packages.items() if package.get("inBundle")]
    unhashed = [place for place, package in packages.items() if "integrity" not in package]
    assert sorted(set(unhashed) - set(bundled)) == []


def test_no_registry_is_named(packages: dict[str, Any]) -> None:
    assert "://" not in "".join(package.get("resolved", "") for package in packages.values())
