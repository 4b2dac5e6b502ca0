"""A set so large that its documents are fetched lightly has the same answer."""

from __future__ import annotations

import orjson
import pytest

from indexer.analysis.analyzer import Analyser
from indexer.documents import Document
from indexer.engines.base import Engine
from indexer.engines.embedded.reader import TantivyReader
from tests.worker.conftest import INDEX, ask
from worker.comparer import Comparer
from worker.explain.resolver import MANY, Limits, resolve
from worker.explain.side import Side
from worker.explain.text.encoded_text import MANY as MANY_WORDS
from worker.explain.text.encoded_text import Coded, Numbered
from worker.methods import METHODS

HALF = MANY  # of each side
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
    monkeypatch.setattr(TantivyReader, "fetch_lightly", TantivyReader.fetch)
    assert untimed(embedded, method=method) == lightly


def test_words_come_as_numbers_and_are_the_same_words(embedded: Engine) -> None:
    reader = embedded.open(INDEX)
    (side,) = resolve(reader, [A], limits=Limits())
    coded = side.coded
    plain = Coded([document.tokens for document in side.documents], reader.model)
    assert isinstance(coded, Numbered) and coded.size == plain.size >= MANY_WORDS
    assert list(coded.words) == list(plain.words) and coded.words[3:5] == plain.words[3:5]
    assert list(coded.tokens) == list(plain.tokens)
    assert coded.lengths.tolist() == plain.lengths.tolist() and coded.numbers.tolist() == plain.numbers.tolist()
    assert dict(coded.counts) == dict(plain.counts)
    assert plain.lined is not None and coded.lined.tolist() == [*plain.lined.tolist(), -1]


@pytest.mark.parametrize("changed", ["d9999", "d0003"])
def test_documents_added_since_count_with_the_words_they_have(
    tantivy_engine: Engine, embedded: Engine, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = embedded.open(INDEX)
    with tantivy_engine.build(INDEX) as build:
        build.write(original.scan())
        build.commit(original.model, original.info)
    before = untimed(tantivy_engine)
    text = "The zzgrumble of a honey bee. The zzgrumble is a waggle dance."
    added = Analyser(original.model).analyse(Document(changed, "On a zzgrumble", text))
    tantivy_engine.add(INDEX, [added])
    lightly = untimed(tantivy_engine)
    monkeypatch.setattr(TantivyReader, "fetch_lightly", TantivyReader.fetch)
    assert untimed(tantivy_engine) == lightly != before
