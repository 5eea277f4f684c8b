"""The page's files are held in memory, small and whole, and sent in the form the browser takes."""

import gzip
from pathlib import Path

import pytest
from tests.support.built_page import ASSETS, write_page

from relaybook.page.assets import Asset, read_assets

TEXT = b"console.log('the page');" * 100


def test_every_file_of_the_build_is_found_by_its_name_and_no_other(tmp_path: Path) -> None:
    directory = write_page(tmp_path) / "assets"
    (directory / "chunks").mkdir()
    assert {name: asset.raw for name, asset in read_assets(directory).items()} == ASSETS


def test_a_build_without_assets_has_none(tmp_path: Path) -> None:
    assert read_assets(tmp_path / "assets") == {}


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.svg", "image/svg+xml"),
        ("a.woff2", "font/woff2"),
        ("a.png", "image/png"),
        ("a.exe", "application/octet-stream"),
        ("a", "application/octet-stream"),
    ],
)
def test_the_media_type_follows_from_the_name_on_every_machine(name: str, media_type: str) -> None:
    assert Asset.of(name, b"x").media_type == media_type


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "*", "*;q=0.1"])
def test_a_browser_that_takes_gzip_gets_it(accepted: str) -> None:
    data, coding = Asset.of("a.js", TEXT).for_browser(accepted)
    assert (gzip.decompress(data), coding) == (TEXT, "gzip")
    assert len(data) < len(TEXT)


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "gzip;q=0.00", "gzip;q=0, *", "*;q=0", "xgzip"])
def test_a_client_that_does_not_take_gzip_gets_the_bytes_as_they_are(accepted: str) -> None:
    assert Asset.of("a.js", TEXT).for_browser(accepted) == (TEXT, None)


def test_what_does_not_shrink_is_not_packed() -> None:
    assert Asset.of("a.css", b"x").for_browser("gzip") == (b"x", None)


def test_packing_is_the_same_each_time() -> None:
    assert Asset.of("a.js", TEXT) == Asset.of("a.js", TEXT)
