"""Phrases of texts that are no prose: each has a defined answer, and none has more than its length accounts for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.analysis.text_phrases import MAX_TEXT_PHRASES
from indexer.documents import AnalysedDocument, Document
from indexer.engines.document_codec import pack_document
from indexer.mining.pipeline import mine_model
from tests.support.corpora.bad_texts import BAD_TEXTS, EMAIL, PROSE, SOURCE
from tests.support.corpora.small_corpus import generate_documents
from tests.support.tagged_texts import tag_text
from tests.support.text_phrases import check_text_phrases

MAX_SALIENT = 30
LONGEST_LINE = 5 * 2**20


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer(mine_model(generate_documents(60)))


def analyse(analyzer: Analyzer, text: str, title: str = "") -> AnalysedDocument:
    return analyzer.analyse(Document("x", title, text))


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_phrases_of_bad_input_are_few_and_cross_no_boundary(analyzer: Analyzer, name: str) -> None:
    for document in (Document("x", text=BAD_TEXTS[name]), Document("x", title=BAD_TEXTS[name])):
        analysed = analyzer.analyse(document)
        names = check_text_phrases(analysed)
        assert len(names) <= MAX_TEXT_PHRASES + MAX_SALIENT
        assert (
            analyzer.analyse(document, frozenset()).text_phrases == analyzer.analyse(document, frozenset()).text_phrases
        )
        check_text_phrases(analyzer.analyse(document, frozenset()))


@pytest.mark.parametrize("name", ["punctuation", "empty", "blank", "digits"])
def test_what_has_no_nouns_has_no_phrases(analyzer: Analyzer, name: str) -> None:
    assert check_text_phrases(analyse(analyzer, BAD_TEXTS[name])) == []


def test_the_cells_of_a_table_are_apart(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, BAD_TEXTS["rows of bars"]))
    cells = {"name", "population", "bern", "prague city"}
    assert {"bern", "prague city"} <= set(names)
    assert all(any(f" {name} " in f" {cell} " for cell in cells) for name in names), names


def test_the_points_of_a_list_are_apart(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, BAD_TEXTS["bullets"]))
    assert names == ["copper whistle", "tin drum", "brass horn", "old hall", "market square"]


def test_the_names_of_source_code_are_phrases_and_its_lines_are_not(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, SOURCE))
    assert {"read_file", "stream.read", "copper whistle"} <= set(names)
    assert not [name for name in names if len(name.split()) > 3]


def test_the_lines_of_a_quotation_are_apart(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, EMAIL))
    assert {"copper whistle", "brass horn", "tin drum", "bob"} <= set(names)
    assert not [name for name in names if "monday" in name and "copper" in name]


def test_a_text_in_capitals_has_the_phrases_of_one_in_small_letters(analyzer: Analyzer) -> None:
    small = BAD_TEXTS["capitals"].lower()
    assert check_text_phrases(analyse(analyzer, BAD_TEXTS["capitals"])) == check_text_phrases(analyse(analyzer, small))
    assert {"copper whistle", "brass horn"} <= set(check_text_phrases(analyse(analyzer, small)))


def test_phrases_are_found_without_punctuation(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, BAD_TEXTS["no punctuation"]))
    assert {"copper whistle", "brass horn", "old town hall", "long year"} <= set(names)


@pytest.mark.parametrize("name", ["HTML", "Markdown"])
def test_phrases_are_found_between_marks(analyzer: Analyzer, name: str) -> None:
    names = check_text_phrases(analyse(analyzer, BAD_TEXTS[name]))
    assert {"copper whistle", "old hall"} <= set(names)
    assert not [name for name in names if "hall new" in name or "whistle copper" in name]


def test_emoji_separate_phrases(analyzer: Analyzer) -> None:
    names = check_text_phrases(analyse(analyzer, BAD_TEXTS["emoji"]))
    assert names == ["copper whistle", "brass horn"]


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_has_phrases_within_its_boundaries(analyzer: Analyzer, text: str, title: str) -> None:
    check_text_phrases(analyse(analyzer, text, title))


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(sorted(BAD_TEXTS)), max_size=4).map(lambda names: " ".join(BAD_TEXTS[n] for n in names))
)
def test_bad_texts_one_after_another_have_phrases_within_their_boundaries(analyzer: Analyzer, text: str) -> None:
    check_text_phrases(analyse(analyzer, text))


@pytest.mark.parametrize(
    "piece",
    [
        PROSE,
        "copper whistle ",
        "Bank of Japan ",
        "state-of-the-art ",
        "the the ",
        "A.B.C. ",
        "co_pper.whi_stle ",
        "a\t",
    ],
)
def test_the_phrases_found_grow_no_faster_than_the_text(piece: str) -> None:
    """Counted before any is selected: each token begins few, however long a run it is in."""
    short, long = (tag_text(piece * count) for count in (100, 1000))
    assert len(long.phrase_starts) <= 3 * len(long.words)
    assert len(long.phrase_starts) <= 10 * len(short.phrase_starts) + 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [PROSE, "copper whistle ", "whistle", "a\t", "<b>", "\n", "copper-", "😀", "x.", "Bank of "]
)
def test_a_line_of_megabytes_has_no_more_phrases_than_a_page(analyzer: Analyzer, piece: str) -> None:
    """What is stored besides the text does not grow with it."""
    analysed = analyse(analyzer, (piece * (LONGEST_LINE // len(piece) + 1))[:LONGEST_LINE])
    assert len(analysed.text_phrases) <= MAX_TEXT_PHRASES + MAX_SALIENT
    assert all(0 < phrase.length <= 6 for phrase in analysed.text_phrases)
    assert len(pack_document(analysed)["text_phrases"]) <= 3 * (MAX_TEXT_PHRASES + MAX_SALIENT)
