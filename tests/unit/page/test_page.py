"""Test that the built page is read once and served from memory, with a new nonce for each load."""

import re
import shutil
from pathlib import Path

import pytest
from tests.support.built_page import BUILD, INDEX, page_in, write_page

from relaybook.page.page import load_page

NONCE = re.compile(r'nonce="([\w-]{20,})"')


def test_each_load_has_a_new_nonce_in_the_page_and_in_its_policy(tmp_path: Path) -> None:
    page = page_in(tmp_path)
    loads = [page.index(""), page.index("")]
    nonces = [set(NONCE.findall(load.text)) for load in loads]
    assert [len(found) for found in nonces] == [1, 1]
    assert nonces[0] != nonces[1]
    for load, (nonce,) in zip(loads, nonces, strict=True):
        assert f"style-src 'self' 'nonce-{nonce}';" in load.policy
        assert "__NONCE__" not in load.text


def test_the_policy_allows_only_the_pages_own_files(tmp_path: Path) -> None:
    policy = re.sub(r"nonce-[\w-]+", "nonce-…", page_in(tmp_path).index("").policy)
    assert policy == (
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-…'; img-src 'self' data:; connect-src 'self';"
        " font-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@pytest.mark.parametrize("base", ["", "/logs", "/a/b"])
def test_asset_paths_are_absolute_and_include_the_sub_path(tmp_path: Path, base: str) -> None:
    page = page_in(tmp_path)
    assert f'src="{base}/assets/index-a1.js"' in page.index(base).text
    assert f'href="{base}/assets/index-b2.css"' in page.index(base).text
    assert f'data-base="{base}"' in page.index(base).text
    assert f'src="{base}/assets/sign-in-c3.js"' in page.sign_in(base).text
    assert f'data-base="{base}"' in page.sign_in(base).text


def test_the_sub_path_is_escaped(tmp_path: Path) -> None:
    text = page_in(tmp_path).index("""/"><script>'&""").text
    assert 'data-base="/&quot;&gt;&lt;script&gt;&#x27;&amp;"' in text
    assert "><script>'" not in text


def test_the_build_is_read_from_the_page(tmp_path: Path) -> None:
    assert page_in(tmp_path).build == BUILD


def test_the_build_of_a_page_without_an_id_is_none(tmp_path: Path) -> None:
    assert page_in(tmp_path, index=INDEX.replace(BUILD, "__BUILD__")).build is None


def test_nothing_is_read_after_loading(tmp_path: Path) -> None:
    page = page_in(tmp_path / "static")
    shutil.rmtree(tmp_path / "static")
    assert page.index("").text
    assert page.assets["index-b2.css"].raw == b"body { margin: 0 }"


@pytest.mark.parametrize("missing", ["index.html", "sign-in.html"])
def test_a_page_that_lacks_a_document_is_not_built(tmp_path: Path, missing: str) -> None:
    (write_page(tmp_path) / missing).unlink()
    assert load_page(tmp_path) is None


def test_a_missing_directory_is_not_built(tmp_path: Path) -> None:
    assert load_page(tmp_path / "static") is None
