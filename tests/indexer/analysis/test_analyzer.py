"""From documents to a model and back to documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.documents import PAIR_SEPARATOR, AnalysedDocument, Document
from indexer.mining import model_builder, phrase_quality
from indexer.mining.encoded_corpus import iterate_batches
from indexer.mining.mined_batches import MinedBatches
from indexer.mining.pipeline import mine_model
from indexer.model.bm25 import Bm25Scorer
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import DocumentSpool
from indexer.text.phrase_search import find_occurrences
from tests.support.corpora.mining_corpus import TERMS, corpus

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
    return mine_model(documents)


@pytest.fixture(scope="module")
def analyser(model: PhraseModel) -> Analyzer:
    return Analyzer(model)


def lemma_names(analyser: Analyzer, names: list[str]) -> list[str]:
    return [analyser.analyse(Document("x", text=name)).tokens for name in names]


def test_real_terms_are_phrases(analyser: Analyzer) -> None:
    found = set(analyser.model.phrases)
    terms = lemma_names(analyser, TERMS)
    assert len([term for term in terms if term in found]) >= 0.9 * len(terms)


def test_boilerplate_scores_below_every_real_term(analyser: Analyzer) -> None:
    quality = dict(zip(analyser.model.phrases, analyser.model.quality.tolist(), strict=True))
    worst = min(quality[term] for term in lemma_names(analyser, TERMS) if term in quality)
    assert all(quality.get(name, 0.0) < worst for name in BOILERPLATE)


def test_one_document_is_analysed_like_many(analyser: Analyzer, documents: list[Document]) -> None:
    together = list(analyser.analyse_all(documents))
    assert [analyser.analyse(document) for document in documents[:40]] == together[:40]


def test_processes_share_the_work_without_changing_it(analyser: Analyzer, documents: list[Document]) -> None:
    assert list(analyser.analyse_all(documents * 3, processes=2)) == list(analyser.analyse_all(documents * 3))


def test_what_is_made_ready_in_other_processes_comes_back_in_order(
    analyser: Analyzer, documents: list[Document]
) -> None:
    def ready(read: AnalysedDocument) -> tuple[str, int]:
        return read.document.id, len(read.phrases)

    found = list(analyser.prepare_all(documents * 3, ready, processes=2))
    assert found == [ready(read) for read in analyser.analyse_all(documents * 3)]


def test_the_same_documents_give_the_same_bytes(model: PhraseModel, documents: list[Document]) -> None:
    assert mine_model(iter(documents)).to_bytes() == model.to_bytes()


def test_processes_share_the_mining_without_changing_it(
    documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.mining.encoded_corpus._PART_SIZE", 7)
    for module in (model_builder, phrase_quality):
        monkeypatch.setattr(module, "iterate_batches", partial(iterate_batches, tokens=500))
    alone = mine_model(documents).to_bytes()
    assert mine_model(documents, processes=3).to_bytes() == alone


@pytest.mark.parametrize("processes", [1, 2])
def test_what_mining_kept_is_what_analysing_anew_would_read(
    documents: list[Document], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_builder, "iterate_batches", partial(iterate_batches, tokens=700))
    monkeypatch.setattr("indexer.analysis.analyzer.BATCH_SIZE", 5)
    odd = [Document("empty"), Document("title", title="Only a title"), Document("signs", text="... !")]
    told: list[tuple[str, int, int]] = []
    kept: list[MinedBatches] = []
    with DocumentSpool() as spool:
        spool.fill([*documents, *odd])
        analyser = Analyzer(mine_model(spool, processes=processes, on_batches_mined=kept.append))
        again = analyser.prepare_mined(
            kept[0], spool, lambda read: read, processes=processes, progress=lambda *step: told.append(step)
        )
        assert list(again) == list(analyser.analyse_all([*documents, *odd]))
    assert told[-1] == ("analyse", spool.count, spool.count)


def test_a_stored_model_analyses_like_the_one_that_was_mined(
    analyser: Analyzer, model: PhraseModel, documents: list[Document]
) -> None:
    stored = Analyzer(PhraseModel.from_bytes(model.to_bytes()))
    assert stored.analyse(documents[3]) == analyser.analyse(documents[3])


def test_no_phrase_of_a_document_crosses_a_boundary(analyser: Analyzer, documents: list[Document]) -> None:
    for read in analyser.analyse_all(documents[:60]):
        for phrase in read.phrases:
            for member in phrase.split(PAIR_SEPARATOR):
                assert find_occurrences(member, read.tokens), phrase


def test_weights_are_bm25_and_degrees_their_sum(analyser: Analyzer, documents: list[Document]) -> None:
    weigher = Bm25Scorer(analyser.model)
    for read in analyser.analyse_all(documents[:20]):
        np.testing.assert_allclose(read.weights, weigher.score_phrases(read.tokens.split(), read.phrases), rtol=1e-12)
        assert read.degree == pytest.approx(sum(read.weights))


def test_the_models_degrees_add_up_over_the_documents(analyser: Analyzer, documents: list[Document]) -> None:
    model = analyser.model
    size = len(model.phrases)
    frequency, degree, spread = np.zeros(size), np.zeros(size), np.zeros(size)
    for read in analyser.analyse_all(documents):
        rows = [model.phrase_ids[phrase] for phrase in read.phrases]
        frequency[rows] += 1
        degree[rows] += read.weights
        spread[rows] += np.array(read.weights) / np.sqrt(read.degree)
    np.testing.assert_array_equal(frequency, model.document_frequency)
    np.testing.assert_allclose(degree, model.degree, rtol=1e-9)
    expected = np.divide(spread, np.sqrt(degree), out=np.zeros(size), where=degree > 0)
    np.testing.assert_allclose(expected, model.background, rtol=1e-9)


def test_salient_phrases_count_and_point_to_their_occurrences(analyser: Analyzer, documents: list[Document]) -> None:
    for read in analyser.analyse_all(documents[:30]):
        assert len(read.salient) <= 30
        for one in read.salient:
            assert 0 < one.salience <= 1
            if PAIR_SEPARATOR not in one.phrase:
                assert one.count == len(find_occurrences(one.phrase, read.tokens))
            for field, start, end in one.spans:
                shown = str(getattr(read.document, field))[start:end]
                assert analyser.analyse(Document("x", text=shown)).tokens in one.phrase


def test_stop_words_and_numbers_are_no_phrases(model: PhraseModel) -> None:
    assert not {"the", "we", "of", "it"} & set(model.phrases)
    assert not [name for name in model.phrases if name.replace(" ", "").isdigit()]


def test_displays_are_as_people_write(model: PhraseModel) -> None:
    assert len(model.display_forms) == len(model.phrases)
    shown = dict(zip(model.phrases, model.display_forms, strict=True))
    assert shown["neural network"].lower() == "neural network"


def test_repeated_neighbours_become_a_pair() -> None:
    line = "The salt marsh lies by the tide pool. "
    documents = [Document(f"p{i}", text=line * 5) for i in range(4)] + corpus(60)
    model = mine_model(documents)
    pairs = [name for name in model.phrases if PAIR_SEPARATOR in name]
    assert "salt marsh@@tide pool" in pairs
    read = Analyzer(model).analyse(documents[0])
    assert "salt marsh@@tide pool" in read.phrases
    salient = {one.phrase for one in read.salient}
    assert "salt marsh@@tide pool" in salient
    assert not {"salt marsh", "tide pool"} & salient


TEXT = st.text(alphabet=st.one_of(st.sampled_from("abc .,-\n"), st.characters()), max_size=80)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(TEXT, TEXT), max_size=8))
def test_any_documents_can_be_mined_and_analysed(texts: list[tuple[str, str]]) -> None:
    documents = [Document(str(i), title, text) for i, (title, text) in enumerate(texts)]
    reader = Analyzer(mine_model(documents))
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
        self.made: Analyzer | None = None

    def get(self) -> Analyzer:
        self.made = self.made or Analyzer(mine_model(corpus(50)))
        return self.made


ANALYSERS = _Small()


def test_progress_is_told(documents: list[Document]) -> None:
    told: list[tuple[str, int, int]] = []
    mine_model(documents[:50], progress=lambda *step: told.append(step), total=50)
    assert {stage for stage, _, _ in told} == {"read", "phrases", "weigh"}
    assert told[-1] == ("weigh", 50, 50)


def test_the_stream_is_read_once(documents: list[Document]) -> None:
    def stream() -> Iterator[Document]:
        yield from documents[:30]

    assert mine_model(stream()).document_count == 30


def test_a_model_can_ask_for_the_papers_salience(model: PhraseModel, documents: list[Document]) -> None:
    paper = replace(model, settings={**model.settings, "salience": "paper"})
    assert Analyzer(paper).analyse(documents[0]).salient


def test_a_language_without_lemmatiser_leaves_a_note() -> None:
    assert mine_model([Document("1", text="ein haus")], language="ja").settings["notes"]


def test_ideographs_are_mined_into_words() -> None:
    documents = [Document(str(i), text="深度学习很好。我喜欢深度学习。") for i in range(6)]
    model = mine_model(documents, language="zh")
    assert any("深度学习" in shown for shown in model.display_forms)
