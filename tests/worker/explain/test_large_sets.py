"""A set so large that its documents are fetched lightly has the same answer."""

from __future__ import annotations

import orjson
import pytest

from indexer.analysis.analyzer import Analyzer
from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.engines.embedded.reader import EmbeddedReader
from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer
from worker.explain.resolver import MIN_LAZY_DOCUMENTS, SideLimits, resolve_sides
from worker.explain.side import Side
from worker.explain.text.encoded_text import MIN_WORDS_FOR_ID_SEARCH as MANY_WORDS
from worker.explain.text.encoded_text import EncodedText, PreencodedText
from worker.methods import METHODS

HALF = MIN_LAZY_DOCUMENTS  # of each side
A, B = (Side.from_text("ids:" + ",".join(f"d{n:04}" for n in range(first, first + HALF))) for first in (0, HALF))


def untimed(engine: Engine, **asked: object) -> bytes:
    answer = ask(Comparer(engine), A, B, cap=0, candidates=True, graph=True, **asked).to_dict()
    answer["stats"].pop("ms")
    return orjson.dumps(answer)


@pytest.mark.parametrize("method", METHODS)
def test_fetched_lightly_or_whole_the_answer_is_the_same(
    embedded: Engine, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lightly = untimed(embedded, method=method)
    monkeypatch.setattr(EmbeddedReader, "fetch_lazy", EmbeddedReader.fetch)
    assert untimed(embedded, method=method) == lightly


def test_words_come_as_numbers_and_are_the_same_words(embedded: Engine) -> None:
    reader = embedded.open_reader(INDEX)
    (side,) = resolve_sides(reader, [A], limits=SideLimits())
    coded = side.encoded_text
    plain = EncodedText([document.tokens for document in side.documents], reader.model)
    assert isinstance(coded, PreencodedText) and coded.word_count == plain.word_count >= MANY_WORDS
    assert list(coded.words) == list(plain.words) and coded.words[3:5] == plain.words[3:5]
    assert list(coded.tokens) == list(plain.tokens)
    assert coded.lengths.tolist() == plain.lengths.tolist() and coded.word_ids.tolist() == plain.word_ids.tolist()
    assert dict(coded.word_counts) == dict(plain.word_counts)
    assert plain.ids_by_line is not None and coded.ids_by_line.tolist() == [*plain.ids_by_line.tolist(), -1]


@pytest.mark.parametrize("changed", ["d9999", "d0003"])
def test_documents_added_since_count_with_the_words_they_have(
    tantivy_engine: Engine, embedded: Engine, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = embedded.open_reader(INDEX)
    with tantivy_engine.start_build(INDEX) as build:
        build.write(original.scan())
        build.commit(original.model, original.info)
    before = untimed(tantivy_engine)
    text = "The zzgrumble of a honey bee. The zzgrumble is a waggle dance."
    added = Analyzer(original.model).analyse(Document(changed, "On a zzgrumble", text))
    tantivy_engine.add_documents(INDEX, [added])
    lightly = untimed(tantivy_engine)
    monkeypatch.setattr(EmbeddedReader, "fetch_lazy", EmbeddedReader.fetch)
    assert untimed(tantivy_engine) == lightly != before
