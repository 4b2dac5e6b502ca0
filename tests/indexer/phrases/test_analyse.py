"""From documents to a model and back to documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyser, mine
from indexer.documents import PAIR, AnalysedDocument, Document
from indexer.errors import BadInput, BadSetting
from indexer.mining import model_builder, pipeline
from indexer.mining.encoded_corpus import batches
from indexer.mining.mined_batches import Kept
from indexer.model.bm25 import Weigher
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import Spool
from indexer.text.tokenizer import occurrences
from tests.indexer.phrases.made import TERMS, corpus

BOILERPLATE = [
    "propose",
    "widely",
    "outperform",
    "demonstrate",
    "clearly",
    "shed light",
    "find shed",
    "extensive experiment",
]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return corpus()


@pytest.fixture(scope="module")
def model(documents: list[Document]) -> PhraseModel:
    return mine(documents)


@pytest.fixture(scope="module")
def analyser(model: PhraseModel) -> Analyser:
    return Analyser(model)


def lemma_names(analyser: Analyser, names: list[str]) -> list[str]:
    return [analyser.analyse(Document("x", text=name)).tokens for name in names]


def test_real_terms_are_phrases(analyser: Analyser) -> None:
    found = set(analyser.model.phrases)
    terms = lemma_names(analyser, TERMS)
    assert len([term for term in terms if term in found]) >= 0.9 * len(terms)


def test_boilerplate_scores_below_every_real_term(analyser: Analyser) -> None:
    quality = dict(zip(analyser.model.phrases, analyser.model.quality.tolist(), strict=True))
    worst = min(quality[term] for term in lemma_names(analyser, TERMS) if term in quality)
    assert all(quality.get(name, 0.0) < worst for name in BOILERPLATE)


def test_one_document_is_analysed_like_many(analyser: Analyser, documents: list[Document]) -> None:
    together = list(analyser.analyse_all(documents))
    assert [analyser.analyse(document) for document in documents[:40]] == together[:40]


def test_processes_share_the_work_without_changing_it(analyser: Analyser, documents: list[Document]) -> None:
    assert list(analyser.analyse_all(documents * 3, processes=2)) == list(analyser.analyse_all(documents * 3))


def test_what_is_made_ready_in_other_processes_comes_back_in_order(
    analyser: Analyser, documents: list[Document]
) -> None:
    def ready(read: AnalysedDocument) -> tuple[str, int]:
        return read.document.id, len(read.phrases)

    found = list(analyser.prepare_all(documents * 3, ready, processes=2))
    assert found == [ready(read) for read in analyser.analyse_all(documents * 3)]


def test_the_same_documents_give_the_same_bytes(model: PhraseModel, documents: list[Document]) -> None:
    assert mine(iter(documents)).to_bytes() == model.to_bytes()


def test_processes_share_the_mining_without_changing_it(
    documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.mining.encoded_corpus._PART", 7)
    for module in (model_builder, pipeline):
        monkeypatch.setattr(module, "batches", partial(batches, tokens=500))
    alone = mine(documents).to_bytes()
    assert mine(documents, processes=3).to_bytes() == alone


@pytest.mark.parametrize("processes", [1, 2])
def test_what_mining_kept_is_what_analysing_anew_would_read(
    documents: list[Document], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_builder, "batches", partial(batches, tokens=700))
    monkeypatch.setattr("indexer.analysis.analyzer.BATCH", 5)
    odd = [Document("empty"), Document("title", title="Only a title"), Document("signs", text="... !")]
    told: list[tuple[str, int, int]] = []
    kept: list[Kept] = []
    with Spool() as spool:
        spool.fill([*documents, *odd])
        analyser = Analyser(mine(spool, processes=processes, keeping=kept.append))
        again = analyser.prepare_kept(
            kept[0], spool, lambda read: read, processes=processes, progress=lambda *step: told.append(step)
        )
        assert list(again) == list(analyser.analyse_all([*documents, *odd]))
    assert told[-1] == ("analyse", spool.count, spool.count)


def test_a_stored_model_analyses_like_the_one_that_was_mined(
    analyser: Analyser, model: PhraseModel, documents: list[Document]
) -> None:
    stored = Analyser(PhraseModel.from_bytes(model.to_bytes()))
    assert stored.analyse(documents[3]) == analyser.analyse(documents[3])


def test_no_phrase_of_a_document_crosses_a_boundary(analyser: Analyser, documents: list[Document]) -> None:
    for read in analyser.analyse_all(documents[:60]):
        for phrase in read.phrases:
            for member in phrase.split(PAIR):
                assert occurrences(member, read.tokens), phrase


def test_weights_are_bm25_and_degrees_their_sum(analyser: Analyser, documents: list[Document]) -> None:
    weigher = Weigher(analyser.model)
    for read in analyser.analyse_all(documents[:20]):
        np.testing.assert_allclose(read.weights, weigher.phrases(read.tokens.split(), read.phrases), rtol=1e-12)
        assert read.degree == pytest.approx(sum(read.weights))


def test_the_models_degrees_add_up_over_the_documents(analyser: Analyser, documents: list[Document]) -> None:
    model = analyser.model
    size = len(model.phrases)
    frequency, degree, spread = np.zeros(size), np.zeros(size), np.zeros(size)
    for read in analyser.analyse_all(documents):
        rows = [model.phrase_ids[phrase] for phrase in read.phrases]
        frequency[rows] += 1
        degree[rows] += read.weights
        spread[rows] += np.array(read.weights) / np.sqrt(read.degree)
    np.testing.assert_array_equal(frequency, model.frequency)
    np.testing.assert_allclose(degree, model.degree, rtol=1e-9)
    expected = np.divide(spread, np.sqrt(degree), out=np.zeros(size), where=degree > 0)
    np.testing.assert_allclose(expected, model.background, rtol=1e-9)


def test_salient_phrases_count_and_point_to_their_occurrences(analyser: Analyser, documents: list[Document]) -> None:
    for read in analyser.analyse_all(documents[:30]):
        assert len(read.salient) <= 30
        for one in read.salient:
            assert 0 < one.salience <= 1
            if PAIR not in one.phrase:
                assert one.count == len(occurrences(one.phrase, read.tokens))
            for field, start, end in one.at:
                shown = str(getattr(read.document, field))[start:end]
                assert analyser.analyse(Document("x", text=shown)).tokens in one.phrase


def test_stop_words_and_numbers_are_no_phrases(model: PhraseModel) -> None:
    assert not {"the", "we", "of", "it"} & set(model.phrases)
    assert not [name for name in model.phrases if name.replace(" ", "").isdigit()]


def test_displays_are_as_people_write(model: PhraseModel) -> None:
    assert len(model.displays) == len(model.phrases)
    shown = dict(zip(model.phrases, model.displays, strict=True))
    assert shown["neural network"].lower() == "neural network"


def test_repeated_neighbours_become_a_pair() -> None:
    line = "The salt marsh lies by the tide pool. "
    documents = [Document(f"p{i}", text=line * 5) for i in range(4)] + corpus(60)
    model = mine(documents)
    pairs = [name for name in model.phrases if PAIR in name]
    assert "salt marsh@@tide pool" in pairs
    read = Analyser(model).analyse(documents[0])
    assert "salt marsh@@tide pool" in read.phrases
    salient = {one.phrase for one in read.salient}
    assert "salt marsh@@tide pool" in salient
    assert not {"salt marsh", "tide pool"} & salient


TEXT = st.text(alphabet=st.one_of(st.sampled_from("abc .,-\n"), st.characters()), max_size=80)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(TEXT, TEXT), max_size=8))
def test_any_documents_can_be_mined_and_analysed(texts: list[tuple[str, str]]) -> None:
    documents = [Document(str(i), title, text) for i, (title, text) in enumerate(texts)]
    reader = Analyser(mine(documents))
    read = list(reader.analyse_all(documents))
    assert [reader.analyse(document) for document in documents] == read


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_analysed_later(text: str) -> None:
    reader = ANALYSERS.get()
    reader.analyse(Document("new", text, text))


class _Small:
    """One small model for tests that only read."""

    def __init__(self) -> None:
        self.made: Analyser | None = None

    def get(self) -> Analyser:
        self.made = self.made or Analyser(mine(corpus(50)))
        return self.made


ANALYSERS = _Small()


def test_progress_is_told(documents: list[Document]) -> None:
    told: list[tuple[str, int, int]] = []
    mine(documents[:50], progress=lambda *step: told.append(step), total=50)
    assert {stage for stage, _, _ in told} == {"read", "phrases", "weigh"}
    assert told[-1] == ("weigh", 50, 50)


def test_the_stream_is_read_once(documents: list[Document]) -> None:
    def stream() -> Iterator[Document]:
        yield from documents[:30]

    assert mine(stream()).documents == 30


def test_good_phrases_can_be_given(tmp_path: Path, documents: list[Document]) -> None:
    given_phrases = tmp_path / "good.txt"
    given_phrases.write_text("tide pool\nsalt marsh\n# no phrase\n", "utf-8")
    assert mine(documents[:50], good_phrases_file=given_phrases).settings["known_phrases"] == 2
    with pytest.raises(BadInput, match="a phrase a line"):
        mine(documents[:5], good_phrases_file=tmp_path / "missing.txt")


def test_an_unknown_salience_is_told() -> None:
    with pytest.raises(BadSetting, match="use default or paper"):
        mine([], salience="loud")


def test_the_papers_salience_can_be_asked_for(documents: list[Document]) -> None:
    paper = mine(documents[:80], salience="paper")
    assert Analyser(paper).analyse(documents[0]).salient


def test_a_language_without_lemmatiser_leaves_a_note() -> None:
    assert mine([Document("1", text="ein haus")], language="ja").settings["notes"]


def test_ideographs_are_mined_into_words() -> None:
    documents = [Document(str(i), text="深度学习很好。我喜欢深度学习。") for i in range(6)]
    model = mine(documents, language="zh")
    assert any("深度学习" in shown for shown in model.displays)
