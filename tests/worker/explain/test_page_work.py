"""Work that the hits of a results page share, or that their documents have stored, is not done again."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.documents import PAIR_SEPARATOR
from indexer.engines.base import Engine
from indexer.engines.embedded import fulltext_index
from indexer.engines.search_types import Selection
from tests.support.comparisons import INDEX, resolve_texts
from tests.support.corpora.planted_pairs import SHARED
from worker.explain.candidates import PairCandidates
from worker.explain.neighbourhood import SidePair
from worker.explain.pair_features import build_problem, split_rows
from worker.explain.text.encoded_text import EncodedText
from worker.explain.text.partial_match import SideText
from worker.solver.parameters import DEFAULT


def test_documents_that_a_search_has_just_found_are_not_read_again(
    indexed_embedded_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, read = indexed_embedded_engine.open_reader(INDEX), []
    read_document = fulltext_index.read_document
    monkeypatch.setattr(fulltext_index, "read_document", lambda *arguments: read.append(1) or read_document(*arguments))
    hits = reader.search(Selection(words=tuple(SHARED.split())), size=10).hits
    ids = [hit.id for hit in hits]
    assert len(ids) > 1
    assert indexed_embedded_engine.open_reader(INDEX).fetch(ids) == [hit.document for hit in hits]
    assert not read
    assert reader.fetch(ids, frozenset()) == [None if hit.document.document.acl else hit.document for hit in hits]
    other = next(one for one in reader.scan() if one.document.id not in ids)
    assert reader.fetch([other.document.id, ids[0]]) == [other, hits[0].document]


def test_stored_counts_of_salient_phrases_are_those_of_the_text(indexed_embedded_engine: Engine) -> None:
    reader = indexed_embedded_engine.open_reader(INDEX)
    for document in reader.scan():
        text = SideText(EncodedText([document.tokens], reader.model), reader.model)
        phrases = [one for one in document.salient if PAIR_SEPARATOR not in one.phrase]
        assert [one.count for one in phrases] == [text.count(one.phrase) for one in phrases]


def test_features_of_stacked_pairs_are_those_of_each_pair(indexed_embedded_engine: Engine) -> None:
    ids = [one.document.id for one, _ in zip(indexed_embedded_engine.open_reader(INDEX).scan(), range(4), strict=False)]
    query, *hits = resolve_texts(indexed_embedded_engine, f"query:{SHARED}", *ids)
    pairs = [SidePair(hit, query, PairCandidates.from_sides(hit, query)) for hit in hits]
    stacked = build_problem(pairs, None, DEFAULT)
    for pair, rows in zip(pairs, split_rows(pairs), strict=True):
        alone = build_problem([pair], None, DEFAULT)
        assert list(stacked.phrases[rows]) == list(alone.phrases)
        for side in ("a", "b"):
            for name in ("salience", "count", "bm25", "partial_match", "topic_cosine", "text_length", "is_salient"):
                values = getattr(getattr(stacked, side), name)[rows]
                assert np.array_equal(values, getattr(getattr(alone, side), name)), (side, name)
