"""Test that the page's assets are held in memory, and are compressed for browsers that accept gzip."""

import gzip
from pathlib import Path

import pytest
from tests.support.built_page import ASSETS, write_page

from relaybook.page.assets import Asset, read_assets

TEXT = b"console.log('the page');" * 100


def test_the_files_of_the_build_are_read_by_name(tmp_path: Path) -> None:
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
def test_the_media_type_depends_on_the_name_only(name: str, media_type: str) -> None:
    assert Asset.of(name, b"x").media_type == media_type


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "*", "*;q=0.1"])
def test_a_browser_that_accepts_gzip_gets_gzip(accepted: str) -> None:
    data, coding = Asset.of("a.js", TEXT).negotiate(accepted)
    assert (gzip.decompress(data), coding) == (TEXT, "gzip")
    assert len(data) < len(TEXT)


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "gzip;q=0.00", "gzip;q=0, *", "*;q=0", "xgzip"])
def test_a_client_that_does_not_accept_gzip_gets_uncompressed_bytes(accepted: str) -> None:
    assert Asset.of("a.js", TEXT).negotiate(accepted) == (TEXT, None)


def test_content_that_does_not_shrink_is_not_compressed() -> None:
    assert Asset.of("a.css", b"x").negotiate("gzip") == (b"x", None)


def test_assets_with_the_same_content_are_equal() -> None:
    assert Asset.of("a.js", TEXT) == Asset.of("a.js", TEXT)
