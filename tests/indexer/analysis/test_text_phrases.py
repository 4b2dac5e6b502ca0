"""Which phrases of its text are stored with a document: selection, counts, order and size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.analysis.analyzer import Analyzer
from indexer.analysis.text_phrases import MAX_TEXT_PHRASES
from indexer.documents import AnalysedDocument, Document, TextPhrase
from indexer.mining.pipeline import mine_model
from tests.support.corpora.small_corpus import generate_documents
from tests.support.text_phrases import check_text_phrases, name_text_phrases

NOUNS = "whistle drum horn lantern bucket ladder hammer saddle kettle basin anvil barrel bellow candle".split()
METALS = ("copper", "brass", "silver")
MANY = [f"{metal} {noun}" for metal in METALS for noun in NOUNS]
"""Phrases that no document of the corpus has."""
SENTENCES = [
    "A waggle dance tells of a copper whistle.",
    "The copper whistle rang.",
    "It was all before then.",
    "THE NECTAR SOURCE IS NEAR!",
    "Bank of Japan and Ann Hill's rope knot",
    "zzyzx, qwrtp; https://x.org/a_b",
    "Regular quarterly dividends (RQD) fell 13 %.",
    "日本 语 😀",
    "\n\n",
    "",
]


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer(mine_model(generate_documents(60)))


@pytest.fixture(scope="module")
def german_analyzer() -> Analyzer:
    texts = [f"Die {word} ist in der Stadt. Wir haben die {word} von Anna." for word in ("Bahn", "Brücke", "Straße")]
    corpus = (Document(f"d{n}", "Die Stadt", texts[n % 3]) for n in range(30))
    return Analyzer(mine_model(corpus, language="de"))


def analyse(analyzer: Analyzer, text: str, title: str = "") -> AnalysedDocument:
    return analyzer.analyse(Document("x", title, text))


def find_phrases(analyzer: Analyzer, text: str, title: str = "") -> dict[str, TextPhrase]:
    analysed = analyse(analyzer, text, title)
    return dict(zip(check_text_phrases(analysed), analysed.text_phrases, strict=True))


def write_sentences(phrases: list[str]) -> str:
    return " ".join(f"It is about the {phrase}." for phrase in phrases)


def test_a_phrase_is_stored_with_its_place_and_its_whole_occurrences(analyzer: Analyzer) -> None:
    found = find_phrases(
        analyzer, "We saw the copper whistle. The copper whistles rang by a copper whistle arena.", "Ann"
    )
    assert found["copper whistle"] == TextPhrase(start=4, length=2, occurrences=2)
    assert found["copper whistle arena"] == TextPhrase(start=12, length=3, occurrences=1)
    assert found["ann"] == TextPhrase(start=0, length=1, occurrences=1)


def test_phrases_of_the_corpus_are_stored_as_well_as_those_of_the_text_alone(analyzer: Analyzer) -> None:
    found = find_phrases(analyzer, "A waggle dance tells of a copper whistle.")
    assert "waggle dance" in analyzer.model.phrase_ids and "copper whistle" not in analyzer.model.phrase_ids
    assert {"waggle dance", "copper whistle"} <= found.keys()


def test_phrases_of_rare_words_come_first_and_repeated_ones_before_them(analyzer: Analyzer) -> None:
    known, rare, repeated = "The waggle dance is here. ", "A copper whistle rang. ", "A brass horn fell. "
    assert list(find_phrases(analyzer, known + rare)) == ["copper whistle", "waggle dance"]
    assert list(find_phrases(analyzer, known + rare + 2 * repeated)) == ["brass horn", "copper whistle", "waggle dance"]
    assert next(iter(find_phrases(analyzer, 9 * known + rare))) == "waggle dance"


def test_phrases_that_tell_as_much_are_in_the_order_of_the_text(analyzer: Analyzer) -> None:
    assert list(find_phrases(analyzer, write_sentences(MANY[:5]))) == MANY[:5]


def test_a_longer_phrase_does_not_tell_more_by_its_length(analyzer: Analyzer) -> None:
    found = list(find_phrases(analyzer, "A brass horn ladder saddle candle fell. A tin copper whistle rang."))
    assert found.index("brass horn ladder saddle candle") < found.index("tin copper whistle")
    again = list(find_phrases(analyzer, "A tin copper whistle rang. A brass horn ladder saddle candle fell."))
    assert again.index("tin copper whistle") < again.index("brass horn ladder saddle candle"), "they weigh the same"


def test_no_more_than_the_first_are_stored_but_all_salient_ones(analyzer: Analyzer) -> None:
    text = f"{write_sentences(MANY)} A waggle dance was there."
    assert len(find_phrases(analyzer, write_sentences(MANY))) == MAX_TEXT_PHRASES
    analysed = analyse(analyzer, text)
    names = check_text_phrases(analysed)
    assert names == [*MANY[:MAX_TEXT_PHRASES], "waggle dance"]
    assert "waggle dance" in {s.phrase for s in analysed.salient}


@pytest.mark.parametrize(
    ("title", "phrases"),
    [
        ("ship backs copper whistle", set()),
        ("SHIP BACKS COPPER WHISTLE", set()),
        ("copper whistle", {"copper whistle"}),
        ("On the copper whistle of it", {"copper whistle"}),
        ("", set()),
    ],
)
def test_a_headline_without_capitals_is_left_out(analyzer: Analyzer, title: str, phrases: set[str]) -> None:
    assert find_phrases(analyzer, "It was so.", title).keys() == phrases
    assert find_phrases(analyzer, "It had a brass horn.", title).keys() == {*phrases, "brass horn"}


def test_a_phrase_of_such_a_headline_is_found_in_the_text(analyzer: Analyzer) -> None:
    found = find_phrases(analyzer, "It backs the copper whistle.", "ship backs copper whistle")
    assert found == {"copper whistle": TextPhrase(start=7, length=2, occurrences=1)}


def test_unknown_words_are_told_apart(analyzer: Analyzer) -> None:
    found = find_phrases(analyzer, "A zzyzx horn fell. A qwrtp horn fell. A qwrtp horn rang.")
    assert {name: phrase.occurrences for name, phrase in found.items()} == {"qwrtp horn": 2, "zzyzx horn": 1}


@pytest.mark.parametrize("text", ["", " ", "the of it", "!? ...", "😀", "\n\n\n", "日本"])
def test_a_text_without_phrases_has_none(analyzer: Analyzer, text: str) -> None:
    assert analyse(analyzer, text).text_phrases == ()


def test_a_batch_of_empty_documents_has_none(analyzer: Analyzer) -> None:
    assert [a.text_phrases for a in analyzer.analyse_all([Document("x"), Document("y")])] == [(), ()]


texts = st.lists(st.sampled_from([*SENTENCES, *(f"A {phrase} fell." for phrase in MANY[:20])]), max_size=25).map(
    " ".join
)
documents = st.lists(st.tuples(st.sampled_from(SENTENCES), texts), min_size=1, max_size=6).map(
    lambda rows: [Document(f"d{n}", title, text) for n, (title, text) in enumerate(rows)]
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(documents)
def test_the_phrases_of_a_document_do_not_depend_on_the_others_of_its_batch(
    analyzer: Analyzer, documents: list[Document]
) -> None:
    alone = [analyzer.analyse(document).text_phrases for document in documents]
    together = list(analyzer.analyse_all(documents))
    assert [analysed.text_phrases for analysed in together] == alone
    assert [analysed.text_phrases for analysed in analyzer.analyse_all(documents[::-1])][::-1] == alone
    for analysed in together:
        check_text_phrases(analysed)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(texts)
def test_the_same_text_gets_the_same_phrases_from_another_process(analyzer: Analyzer, text: str) -> None:
    """Nothing depends on what the process has seen before."""
    other = Analyzer(replace(analyzer.model))
    assert analyse(other, text).text_phrases == analyse(analyzer, text).text_phrases


def vary_word_frequency(analyzer: Analyzer) -> Iterator[Analyzer]:
    """Yield analyzers that only differ in how many documents contain each word."""
    counts = analyzer.model.word_document_frequency
    for variant in (counts, counts[::-1].copy(), np.ones_like(counts)):
        yield Analyzer(replace(analyzer.model, word_document_frequency=variant))


def test_the_phrases_of_a_limited_callers_text_do_not_depend_on_word_frequencies(analyzer: Analyzer) -> None:
    known = [
        f"{a} {b}" for a in ("honey", "rope", "queen", "tide") for b in ("bee", "knot", "whistle", "table", "boat")
    ]
    document = Document("x", text=write_sentences(known))
    for allowed in (frozenset(), frozenset(["honey"])):
        (first, *others) = [a.analyse(document, allowed).text_phrases for a in vary_word_frequency(analyzer)]
        assert first and all(other == first for other in others)
    full = [a.analyse(document).text_phrases for a in vary_word_frequency(analyzer)]
    assert full[0] != full[1], "of a caller who may read everything they do"


def test_a_limited_callers_text_has_its_phrases_in_the_order_of_the_text(analyzer: Analyzer) -> None:
    text = "The waggle dance is here. A copper whistle rang."
    names = name_text_phrases(analyzer.analyse(Document("x", text=text), frozenset()))
    assert names == ["waggle dance", "copper whistle"]


def test_in_a_language_without_a_tagger_the_phrases_are_word_runs(german_analyzer: Analyzer) -> None:
    found = find_phrases(german_analyzer, "Die Deutsche Eisenbahn ist in der Stadt. Wir haben die Deutsche Eisenbahn.")
    assert {name: phrase.occurrences for name, phrase in found.items()} == {"deutsch eisenbahn": 2, "stadt": 1}


def test_a_limited_callers_text_in_such_a_language_has_none(german_analyzer: Analyzer) -> None:
    """Its runs would tell which words are frequent in documents that the caller may not read."""
    document = Document("x", text="Die Deutsche Eisenbahn ist in der Stadt.")
    assert german_analyzer.analyse(document).text_phrases
    assert not german_analyzer.analyse(document, frozenset(german_analyzer.model.phrases)).text_phrases
