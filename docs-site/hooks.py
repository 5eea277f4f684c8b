"""Adapt the documentation to MkDocs: the navigation, and links that leave docs/.

docs/index.md lists every page in four parts; the navigation is that list. Pages link to files of the project, such as
../../deploy/systemd/relaybook.service. Those files are copied into the site, and links to them are adapted; links to
directories become plain text.
"""

import os
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the navigation from docs/index.md: a part per heading, a page per list item."""
    _, *parts = re.split(r"^## ", (DOCS / "index.md").read_text("utf-8"), flags=re.MULTILINE)
    config.nav = [{"Overview": "index.md"}]
    for part in parts:
        heading, _, text = part.partition("\n")
        items = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\)", text, re.MULTILINE)
        config.nav.append({heading: [{title: _place(target)} for title, target in items]})
    return config


def _place(target: str) -> str | list[str]:
    """Return the page, or the pages of the directory."""
    pages = sorted((DOCS / target).glob("*.md")) if target.endswith("/") else None
    return target if pages is None else [str(page.relative_to(DOCS)) for page in pages]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to."""
    for page in [each for each in files if each.src_uri.endswith(".md")]:
        source = DOCS / page.src_uri
        for _, target, _ in _LINK.findall(source.read_text("utf-8")):
            path = _outside(source.parent / target)
            if path and path.is_file() and files.get_file_from_path(_uri(path)) is None:
                files.append(File.generated(config, _uri(path), content=_content(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Adapt the links of a page."""
    source = DOCS / page.file.src_uri

    def adapted(match: re.Match[str]) -> str:
        text, target, anchor = match.groups("")
        path = _outside(source.parent / target)
        if path is None:
            pages = _place(target)
            return match[0] if isinstance(pages, str) else f"[{text}]({pages[0]})"
        if path.is_dir():
            return text
        return f"[{text}]({os.path.relpath(DOCS / _uri(path), source.parent)}{anchor})"

    return _LINK.sub(adapted, markdown)


def _outside(path: Path) -> Path | None:
    """Return the path of a file or directory of the project that is not in docs/. `None` if it is in docs/."""
    resolved = path.resolve()
    return None if resolved.is_relative_to(DOCS) or not resolved.is_relative_to(ROOT) else resolved


def _uri(path: Path) -> str:
    """Return where a file of the project is in the site. Programs and settings are shown by the browser as text."""
    name = str(path.relative_to(ROOT))
    return name if path.suffix in (".md", ".json") else f"{name}.txt"


def _content(path: Path) -> str:
    """Return the content of a file. A page of the project must not link below docs/ itself."""
    return path.read_text("utf-8").replace("](docs/", "](")
