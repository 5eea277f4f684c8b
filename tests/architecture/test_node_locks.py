"""Test that Node packages are locked for every platform, with hashes and without the address of a registry."""

import json
from typing import Any

import pytest
from tests.support.tree import ROOT

#: The lock files for the page, for the official SDKs in the conformance tests, and for a proxy in the benchmark.
LOCKS = [
    ROOT / place / "package-lock.json" for place in ("dashboard", "tests/conformance/node", "benchmarks/peers/portkey")
]


@pytest.fixture(params=LOCKS, ids=lambda lock: lock.parent.name)
def packages(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the locked packages by path, without the project itself."""
    locked = json.loads(request.param.read_text("utf-8"))["packages"]
    return {place: package for place, package in locked.items() if place}


def test_packages_for_other_platforms_are_locked_too(packages: dict[str, Any]) -> None:
    """If the lock file lacks the package for one platform, ``npm ci`` fails on every machine."""
    locked = {place.rpartition("node_modules/")[2] for place in packages}
    required = {name for package in packages.values() for name in package.get("optionalDependencies", {})}
    assert sorted(required - locked) == []


def test_every_package_has_its_hash(packages: dict[str, Any]) -> None:
    bundled = [place for place, package in packages.items() if package.get("inBundle")]
    unhashed = [place for place, package in packages.items() if "integrity" not in package]
    assert sorted(set(unhashed) - set(bundled)) == []


def test_no_registry_is_named(packages: dict[str, Any]) -> None:
    assert "://" not in "".join(package.get("resolved", "") for package in packages.values())
