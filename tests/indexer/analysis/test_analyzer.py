"""Mining a model from documents, and analysing documents with it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.documents import PAIR_SEPARATOR, AnalysedDocument, Document
from indexer.mining import model_builder, phrase_quality
from indexer.mining.encoded_corpus import iterate_document_ranges
from indexer.mining.mined_batches import MinedBatches
from indexer.mining.pipeline import mine_model
from indexer.mining.streamed_corpus import count_corpus
from indexer.model.bm25 import Bm25Scorer
from indexer.model.phrase_model import PhraseModel
from indexer.runtime.document_spool import DocumentSpool
from indexer.text.phrase_search import find_occurrences
from tests.support.corpora.mining_corpus import TERMS, generate_abstracts

pytestmark = pytest.mark.slow

BOILERPLATE = "propose,widely,outperform,demonstrate,clearly,shed light,find shed,extensive experiment".split(",")


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return generate_abstracts()


@pytest.fixture(scope="module")
def model(documents: list[Document]) -> PhraseModel:
    return mine_model(documents)


@pytest.fixture(scope="module")
def analyzer(model: PhraseModel) -> Analyzer:
    return Analyzer(model)


def lemmatize_names(analyzer: Analyzer, names: list[str]) -> list[str]:
    return [analyzer.analyse(Document("x", text=name)).tokens for name in names]


def test_real_terms_are_phrases(analyzer: Analyzer) -> None:
    phrases = set(analyzer.model.phrases)
    terms = lemmatize_names(analyzer, TERMS)
    assert len([term for term in terms if term in phrases]) >= 0.9 * len(terms)


def test_boilerplate_scores_below_every_real_term(analyzer: Analyzer) -> None:
    quality = dict(zip(analyzer.model.phrases, analyzer.model.quality.tolist(), strict=True))
    worst = min(quality[term] for term in lemmatize_names(analyzer, TERMS) if term in quality)
    assert all(quality.get(name, 0.0) < worst for name in BOILERPLATE)


def test_one_document_is_analysed_like_many(analyzer: Analyzer, documents: list[Document]) -> None:
    together = list(analyzer.analyse_all(documents))
    assert [analyzer.analyse(document) for document in documents[:40]] == together[:40]


def test_processes_share_the_work_without_changing_it(analyzer: Analyzer, documents: list[Document]) -> None:
    assert list(analyzer.analyse_all(documents * 3, processes=2)) == list(analyzer.analyse_all(documents * 3))


def test_documents_prepared_in_other_processes_come_back_in_order(
    analyzer: Analyzer, documents: list[Document]
) -> None:
    def prepare(analysed: AnalysedDocument) -> tuple[str, int]:
        return analysed.document.id, len(analysed.phrases)

    prepared = list(analyzer.analyse_and_prepare_all(documents * 3, prepare, processes=2))
    assert prepared == [prepare(analysed) for analysed in analyzer.analyse_all(documents * 3)]


def test_the_same_documents_give_the_same_bytes(model: PhraseModel, documents: list[Document]) -> None:
    assert mine_model(iter(documents)).to_bytes() == model.to_bytes()


def test_processes_share_the_mining_without_changing_it(
    documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.mining.encoded_corpus._PART_SIZE", 7)
    for module in (model_builder, phrase_quality):
        monkeypatch.setattr(module, "iterate_document_ranges", partial(iterate_document_ranges, tokens_per_range=500))
    alone = mine_model(documents).to_bytes()
    assert mine_model(documents, processes=3).to_bytes() == alone


@pytest.mark.parametrize("processes", [1, 2])
def test_mined_batches_give_the_same_documents_as_analysing_anew(
    documents: list[Document], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        model_builder, "iterate_document_ranges", partial(iterate_document_ranges, tokens_per_range=700)
    )
    monkeypatch.setattr("indexer.analysis.analyzer.BATCH_SIZE", 5)
    unusual = [Document("empty"), Document("title", title="Only a title"), Document("signs", text="... !")]
    steps: list[tuple[str, int, int]] = []
    mined: list[MinedBatches] = []
    with DocumentSpool() as spool:
        spool.fill([*documents, *unusual])
        analyzer = Analyzer(mine_model(spool, processes=processes, on_batches_mined=mined.append))
        prepared = analyzer.analyse_and_prepare_segmented(
            mined[0], spool, lambda analysed: analysed, processes=processes, progress=lambda *step: steps.append(step)
        )
        assert list(prepared) == list(analyzer.analyse_all([*documents, *unusual]))
    assert steps[-1] == ("analyse", spool.count, spool.count)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_streamed_corpus_gives_the_same_documents_as_analysing_anew(
    documents: list[Document], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.mining.streamed_corpus.PART_DOCUMENTS", 5)
    unusual = [
        Document("empty"),
        Document("title", title="Only a title"),
        Document("signs", text="... !"),
        Document("new", title="WiFi for zorbs", text="Unseen zorbs' queen-bee flibbered at the Zorb Flibber Club."),
    ]
    with DocumentSpool() as spool:
        spool.fill([*documents, *unusual])
        model, corpus = count_corpus(mine_model(documents[:40]), spool, processes)
        analyzer = Analyzer(model)
        prepared = analyzer.analyse_and_prepare_segmented(corpus, spool, lambda analysed: analysed, processes=processes)
        assert list(prepared) == list(analyzer.analyse_all([*documents, *unusual]))


def test_a_stored_model_analyses_like_the_one_that_was_mined(
    analyzer: Analyzer, model: PhraseModel, documents: list[Document]
) -> None:
    stored = Analyzer(PhraseModel.from_bytes(model.to_bytes()))
    assert stored.analyse(documents[3]) == analyzer.analyse(documents[3])


def test_queries_and_added_documents_follow_the_spellings_of_the_corpus(documents: list[Document]) -> None:
    model = mine_model([*documents, Document("cloud", text="We run on AWS, with AWS and its GPUs.")])
    stored = Analyzer(PhraseModel.from_bytes(model.to_bytes()))
    for text in ("AWS GPUs", "aws gpus", "Aws Gpus"):
        assert stored.analyse(Document("x", text=text)).tokens == "aws gpu"


def test_a_model_stored_without_spellings_lemmatizes_as_it_was_mined(model: PhraseModel) -> None:
    before = Analyzer(PhraseModel.from_bytes(replace(model, lemma_table=None).to_bytes()))
    assert before.model.lemma_table is None
    assert before.analyse(Document("x", text="LLMs on AWS aws wifi")).tokens == "llm on aws aw wi-fi"


def test_no_phrase_of_a_document_crosses_a_boundary(analyzer: Analyzer, documents: list[Document]) -> None:
    for analysed in analyzer.analyse_all(documents[:60]):
        for phrase in analysed.phrases:
            for member in phrase.split(PAIR_SEPARATOR):
                assert find_occurrences(member, analysed.tokens), phrase


def test_weights_are_bm25_and_degrees_their_sum(analyzer: Analyzer, documents: list[Document]) -> None:
    scorer = Bm25Scorer(analyzer.model)
    for analysed in analyzer.analyse_all(documents[:20]):
        np.testing.assert_allclose(
            analysed.weights, scorer.score_phrases(analysed.tokens.split(), analysed.phrases), rtol=1e-12
        )
        assert analysed.degree == pytest.approx(sum(analysed.weights))


def test_the_models_degrees_add_up_over_the_documents(analyzer: Analyzer, documents: list[Document]) -> None:
    model = analyzer.model
    size = len(model.phrases)
    frequency, degree, spread = np.zeros(size), np.zeros(size), np.zeros(size)
    for analysed in analyzer.analyse_all(documents):
        rows = [model.phrase_ids[phrase] for phrase in analysed.phrases]
        frequency[rows] += 1
        degree[rows] += analysed.weights
        spread[rows] += np.array(analysed.weights) / np.sqrt(analysed.degree)
    np.testing.assert_array_equal(frequency, model.document_frequency)
    np.testing.assert_allclose(degree, model.degree, rtol=1e-9)
    expected = np.divide(spread, np.sqrt(degree), out=np.zeros(size), where=degree > 0)
    np.testing.assert_allclose(expected, model.background, rtol=1e-9)


def test_salient_phrases_count_and_point_to_their_occurrences(analyzer: Analyzer, documents: list[Document]) -> None:
    for analysed in analyzer.analyse_all(documents[:30]):
        assert len(analysed.salient) <= 30
        for salient in analysed.salient:
            assert 0 < salient.salience <= 1
            if PAIR_SEPARATOR not in salient.phrase:
                assert salient.count == len(find_occurrences(salient.phrase, analysed.tokens))
            for field, start, end in salient.spans:
                shown = str(getattr(analysed.document, field))[start:end]
                assert analyzer.analyse(Document("x", text=shown)).tokens in salient.phrase


def test_stop_words_and_numbers_are_no_phrases(model: PhraseModel) -> None:
    assert not {"the", "we", "of", "it"} & set(model.phrases)
    assert not [name for name in model.phrases if name.replace(" ", "").isdigit()]


def test_display_forms_are_as_people_write(model: PhraseModel) -> None:
    assert len(model.display_forms) == len(model.phrases)
    shown = dict(zip(model.phrases, model.display_forms, strict=True))
    assert shown["neural network"].lower() == "neural network"


def test_repeated_neighbours_become_a_pair() -> None:
    line = "The salt marsh lies by the tide pool. "
    documents = [Document(f"p{i}", text=line * 5) for i in range(4)] + generate_abstracts(60)
    model = mine_model(documents)
    pairs = [name for name in model.phrases if PAIR_SEPARATOR in name]
    assert "salt marsh@@tide pool" in pairs
    analysed = Analyzer(model).analyse(documents[0])
    assert "salt marsh@@tide pool" in analysed.phrases
    phrases = {salient.phrase for salient in analysed.salient}
    assert "salt marsh@@tide pool" in phrases
    assert not {"salt marsh", "tide pool"} & phrases


SENTENCES = sorted({sentence for document in generate_abstracts()[:40] for sentence in document.text.split(". ")})
UNUSUAL_TEXTS = ["", "?", "unheard-of", "THE WHOLE LINE IN CAPITALS", "深度学习", "a\n\nb", "C++ (c++) 3.5"]
texts = st.lists(st.sampled_from(SENTENCES) | st.sampled_from(UNUSUAL_TEXTS), max_size=6).map(". ".join)
batches = st.lists(st.builds(Document, st.just("x"), title=texts, text=texts), min_size=1, max_size=5)


@settings(deadline=None, max_examples=60)
@given(batch=batches)
def test_a_document_is_as_salient_alone_as_in_a_batch(analyzer: Analyzer, batch: list[Document]) -> None:
    together = list(analyzer.analyse_all(batch))
    alone = [analyzer.analyse(document) for document in batch]
    assert [document.salient for document in together] == [document.salient for document in alone]
    assert together == alone


TEXT = st.text(alphabet=st.one_of(st.sampled_from("abc .,-\n"), st.characters()), max_size=80)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(TEXT, TEXT), max_size=8))
def test_any_documents_can_be_mined_and_analysed(texts: list[tuple[str, str]]) -> None:
    documents = [Document(str(i), title, text) for i, (title, text) in enumerate(texts)]
    analyzer = Analyzer(mine_model(documents))
    analysed = list(analyzer.analyse_all(documents))
    assert [analyzer.analyse(document) for document in documents] == analysed


@settings(deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_can_be_analysed_later(analyzer: Analyzer, text: str) -> None:
    analyzer.analyse(Document("new", text, text))


def test_progress_is_reported(documents: list[Document]) -> None:
    steps: list[tuple[str, int, int]] = []
    mine_model(documents[:50], progress=lambda *step: steps.append(step), total=50)
    assert {stage for stage, _, _ in steps} == {"read", "phrases", "weigh"}
    assert steps[-1] == ("weigh", 50, 50)


def test_the_stream_is_read_once(documents: list[Document]) -> None:
    assert mine_model(iter(documents[:30])).document_count == 30


def test_a_model_setting_selects_the_papers_salience(model: PhraseModel, documents: list[Document]) -> None:
    paper = replace(model, settings={**model.settings, "salience": "paper"})
    assert Analyzer(paper).analyse(documents[0]).salient


def test_a_language_without_lemmatiser_leaves_a_note() -> None:
    assert mine_model([Document("1", text="ein haus")], language="ja").settings["notes"]


def test_ideographs_are_mined_into_words() -> None:
    documents = [Document(str(i), text="深度学习很好。我喜欢深度学习。") for i in range(6)]
    model = mine_model(documents, language="zh")
    assert any("深度学习" in shown for shown in model.display_forms)
