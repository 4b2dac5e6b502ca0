"""Sets so large that their documents are fetched lazily have the same answers."""

from __future__ import annotations

import weakref

import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.engines.embedded.reader import EmbeddedReader
from indexer.runtime.memory import gc_paused
from tests.support.comparisons import INDEX, compare_sides, encode_without_timings
from tests.support.index_copies import copy_index
from worker.comparer import Comparer
from worker.explain.resolver import MIN_LAZY_DOCUMENTS, resolve_sides
from worker.explain.side import Side
from worker.explain.side_limits import SideLimits
from worker.explain.text.encoded_text import MIN_WORDS_FOR_ID_SEARCH, EncodedText, PreencodedText
from worker.methods.registry import METHODS

pytestmark = pytest.mark.slow

IDS = [f"d{n:04}" for n in range(2 * MIN_LAZY_DOCUMENTS)]
A, B = (Side.from_text("ids:" + ",".join(ids)) for ids in (IDS[:MIN_LAZY_DOCUMENTS], IDS[MIN_LAZY_DOCUMENTS:]))


def compare_halves(engine: Engine, **options: object) -> bytes:
    answer = compare_sides(Comparer(engine), A, B, cap=0, candidates=True, graph=True, **options)
    return encode_without_timings(answer)


@pytest.mark.parametrize("method", METHODS)
def test_lazy_documents_give_the_same_answer(
    indexed_embedded_engine: Engine, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy_answer = compare_halves(indexed_embedded_engine, method=method)
    monkeypatch.setattr(EmbeddedReader, "fetch_lazy", EmbeddedReader.fetch)
    assert compare_halves(indexed_embedded_engine, method=method) == lazy_answer


def test_preencoded_text_equals_text_encoded_here(indexed_embedded_engine: Engine) -> None:
    reader = indexed_embedded_engine.open_reader(INDEX)
    (side,) = resolve_sides(reader, [A], limits=SideLimits())
    encoded = side.encoded_text
    plain = EncodedText([document.tokens for document in side.documents], reader.model)
    assert isinstance(encoded, PreencodedText) and encoded.word_count == plain.word_count >= MIN_WORDS_FOR_ID_SEARCH
    assert list(encoded.words) == list(plain.words) and encoded.words[3:5] == plain.words[3:5]
    assert list(encoded.tokens) == list(plain.tokens)
    assert encoded.lengths.tolist() == plain.lengths.tolist() and encoded.word_ids.tolist() == plain.word_ids.tolist()
    assert dict(encoded.word_counts) == dict(plain.word_counts)
    assert plain.word_ids_with_line_ends is not None and encoded.word_ids_with_line_ends.tolist() == [
        *plain.word_ids_with_line_ends.tolist(),
        -1,
    ]


def test_a_large_set_is_freed_without_the_garbage_collector(indexed_embedded_engine: Engine) -> None:
    (side,) = resolve_sides(indexed_embedded_engine.open_reader(INDEX), [A], limits=SideLimits())
    assert side.text.word_counts and side.encoded_text.tokens[0]
    is_freed = weakref.ref(side)
    with gc_paused():
        del side
        assert is_freed() is None


@pytest.mark.parametrize("changed", ["d9999", "d0003"])
def test_documents_added_later_count_with_words_unknown_to_the_model(
    tantivy_engine: Engine, indexed_embedded_engine: Engine, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = indexed_embedded_engine.open_reader(INDEX)
    copy_index(original, tantivy_engine)
    before = compare_halves(tantivy_engine)
    text = "The zzgrumble of a honey bee. The zzgrumble is a waggle dance."
    added = Analyzer(original.model).analyse(Document(changed, "On a zzgrumble", text))
    tantivy_engine.add_documents(INDEX, [added])
    lazy_answer = compare_halves(tantivy_engine)
    monkeypatch.setattr(EmbeddedReader, "fetch_lazy", EmbeddedReader.fetch)
    assert compare_halves(tantivy_engine) == lazy_answer != before
