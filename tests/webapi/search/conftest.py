"""An attached index, for the tests of searches in its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.attached_articles import Articles, attach_articles
from tests.support.attached_sources import AttachedSource, attach_source


@pytest.fixture
def source(elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[AttachedSource]:
    source = AttachedSource(elasticsearch_url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHRASECOM_INDEX_PREFIX", source.prefix)
    attach_source(source)
    yield source
    source.close()


@pytest.fixture(scope="module")
def articles(elasticsearch_url: str) -> Iterator[Articles]:
    with attach_articles(elasticsearch_url) as articles:
        yield articles
