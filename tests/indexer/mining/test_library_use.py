"""What is found out about a document does not depend on the documents it is analysed with."""

from __future__ import annotations

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.documents import Document
from indexer.mining.pipeline import mine_model
from tests.support.corpora.mining_corpus import corpus

SENTENCES = sorted({sentence for document in corpus()[:40] for sentence in document.text.split(". ")})
ODD = ["", "?", "unheard-of", "THE WHOLE LINE IN CAPITALS", "深度学习", "a\n\nb", "C++ (c++) 3.5"]
texts = st.lists(st.sampled_from(SENTENCES) | st.sampled_from(ODD), max_size=6).map(". ".join)
documents = st.lists(st.builds(Document, st.just("x"), title=texts, text=texts), min_size=1, max_size=5)


@cache
def analyser() -> Analyzer:
    return Analyzer(mine_model(corpus()))


@settings(deadline=None, max_examples=60)
@given(documents)
def test_a_document_is_as_salient_alone_as_in_a_batch(batch: list[Document]) -> None:
    together = list(analyser().analyse_all(batch))
    alone = [analyser().analyse(document) for document in batch]
    assert [one.salient for one in together] == [one.salient for one in alone]
    assert together == alone
