"""Twelve documents for tests of jobs, caches and rights, which need few documents and no particular phrases."""

from __future__ import annotations

from indexer.documents import Document


def make_web_papers() -> list[Document]:
    """Return d1 to d12, all much alike; d9 is for the group ``staff`` only."""
    text = "The web graph is crawled. Link analysis ranks the pages of the web graph. A random walk stays on it. "
    return [
        Document(
            f"d{n}",
            f"Web graphs and link analysis, part {n}",
            text * 3 + f"Topic models find topic {n % 3}.",
            date=f"2011-03-{n:02d}",
            facets={"source": ["BBC" if n % 2 else "CNN"]},
            acl=("staff",) if n == 9 else (),
        )
        for n in range(1, 13)
    ]
