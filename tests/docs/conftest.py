"""The pages of the site, written once for all tests of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.stage import stage


@pytest.fixture(scope="session")
def site_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the site is built from: `pages`, `theme` and `zensical.toml`."""
    folder = tmp_path_factory.mktemp("docs") / "source"
    stage(folder)
    return folder


@pytest.fixture(scope="session")
def site_pages(site_source: Path) -> Path:
    """All pages in Markdown, generated ones too."""
    return site_source / "pages"
