"""What a word means is decided by the spellings of the corpus, not by the case or the hyphen of one occurrence."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.documents import Document
from indexer.mining.encoded_corpus import encode_corpus
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences, locate_token_sequences
from indexer.text.tokenizer import lemmatize_document, lemmatize_text, tokenize_document

ENGLISH = [
    ("Moving to AWS", "We moved the servers to AWS. AWS has GPUs, and each GPU is an NVIDIA card. The awl is sharp."),
    ("DVDs for all", "She rips a DVD with McAfee's tool on her iPhone; two DVDs and some iPhones were lost."),
    ("LED LAMPS OF REUTERS", "An LED lamp led nobody astray; the LED is brighter. According to Reuters, lamps sell."),
    (
        "Résumé Parsers",
        "The states of the United States parse résumés. O'Reilly's books aren't read on the U.S. coast.",
    ),
    ("os.path.join", "A ResNet, two ResNets and C++ code; x2 and snake_case, naïve cafés, İstanbul, Ǆ and ŉ."),
]
GERMAN = [
    ("Das Netzwerk", "Ein Netzwerk verbindet Rechner. Wer Netzwerke plant, kennt die Straßen und Häuser der Stadt."),
    (
        "Spiele",
        "Wir spielen ein Spiel. Das Spiel macht Spaß, und neue Spiele kosten Geld. Die LKWs fahren; ein LKW hält.",
    ),
    ("Essen", "Nach dem Essen essen wir Äpfel. Größe und Maße der GPUs, jede GPU mit Lüfter."),
]


def make_documents(*texts: tuple[str, str] | str) -> list[Document]:
    rows = [("", text) if isinstance(text, str) else text for text in texts]
    return [Document(str(number), title=title, text=text) for number, (title, text) in enumerate(rows)]


def learn(*texts: tuple[str, str] | str, language: str = "en") -> Lemmatizer:
    """Return the lemmatizer of a corpus of these texts, each a text or a title and a text."""
    return Lemmatizer(language, encode_corpus(make_documents(*texts), language).lemma_table)


@pytest.mark.parametrize(("language", "texts"), [("en", ENGLISH), ("de", GERMAN)])
def test_every_word_form_meets_its_documents_in_any_case(language: str, texts: list[tuple[str, str]]) -> None:
    documents = make_documents(*texts)
    corpus = encode_corpus(documents, language)
    lemmatizer = Lemmatizer(language, corpus.lemma_table)
    words = [word for document in documents for word in tokenize_document(document, lemmatizer).words]
    assert len(words) == corpus.token_count
    for word, lemma_id in zip(words, corpus.lemma_ids.tolist(), strict=True):
        forms = (word, word.lower(), word.upper(), word.title(), word.capitalize())
        assert {lemmatizer[form] for form in forms} == {corpus.lemmas[lemma_id]}


def test_an_acronym_of_the_corpus_is_no_ordinary_word_when_typed_small() -> None:
    assert Lemmatizer("en")["aws"] == "aw"
    assert learn("We run it on AWS and like AWS.")["aws"] == "aws"
    assert learn("It led to this. An LED.", "They led.")["LED"] == Lemmatizer("en")["led"]
    assert learn("It led to this. An LED.", "The LED.")["led"] == "led"


def test_plurals_of_acronyms_have_the_lemma_of_the_singular() -> None:
    lemmatizer = learn("A DVD, one DVD, a GPU, two GPUs, LLMs and an AutoML, the AutoML and HTTP or HTTPS over HTTP.")
    assert [lemmatizer[word] for word in ("dvds", "DVDs", "gpus", "llms", "automls")] == [
        *("dvd", "dvd", "gpu", "llm", "automl")
    ]
    assert lemmatizer["https"] == "https"


def test_a_german_noun_typed_small_is_a_noun() -> None:
    assert Lemmatizer("de")["netzwerk"] == "netzwerken"
    lemmatizer = learn("Das Netzwerk und das Spiel.", ("Straßen", ""), language="de")
    assert [lemmatizer[word] for word in ("netzwerk", "spiel", "STRASSEN")] == ["netzwerk", "spiel", "strasse"]


def test_a_capital_at_the_start_of_a_sentence_or_in_a_title_is_no_name() -> None:
    started = learn(("Autoencoders", "Autoencoders work. Autoencoders are nets."))
    assert started["autoencoders"] == "autoencoder"
    assert learn("He read Reuters and quoted Reuters.")["reuters"] == "reuters"


def test_a_name_that_is_also_an_ordinary_word_is_inflected_as_one() -> None:
    lemmatizer = learn("The United States and other states. In the United States. The United States.")
    assert lemmatizer["States"] == lemmatizer["states"] == "state"


def test_capitals_of_a_whole_field_or_of_a_long_ordinary_word_are_no_acronyms() -> None:
    assert learn("BAHIA COCOA PRICES ROSE")["prices"] == "price"
    assert learn("No WARRANTIES, and no WARRANTIES at all.")["warranties"] == "warranty"


def test_the_table_has_only_what_differs_from_the_lower_case_lemma() -> None:
    corpus = encode_corpus(make_documents("Networks of USB sticks in the Alps run AWS."), "en")
    assert corpus.lemma_table == {"aws": "aws"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["A wifi card, wifi keys and a Wi-Fi mast."], "wifi"),
        (["Wi-Fi here and Wi-Fi there, or wifi."], "wi fi"),
        (["A wifi card."], "wifi"),
    ],
)
def test_a_word_meets_its_hyphenated_spelling(texts: list[str], expected: str) -> None:
    lemmatizer = learn(*texts)
    tokens = {lemmatize_text(word, lemmatizer) for word in ("wifi", "WiFi", "WIFI", "Wifi")}
    assert tokens == {expected}
    if "-" in texts[0]:
        assert {lemmatize_text(word, lemmatizer) for word in ("wi-fi", "Wi-Fi", "WI‑FI")} == {expected}


def test_inflections_of_a_hyphenated_word_are_decided_together() -> None:
    lemmatizer = learn("One email, an email, the email; two e-mails, e-mails and emails.")
    assert [lemmatize_text(word, lemmatizer) for word in ("e-mail", "e-mails", "emails")] == ["email"] * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hong Kong trade, Hong Kong ports and Hong Kong. Hong-Kong, or Hongkong, or Hongkong.", "hong kong"),
        ("Hong-Kong, or Hong Kong. Hongkong trade and Hongkong ports.", "hongkong"),
        ("Hong, Kong; Hong. Kong (Hong) Kong. Hong-Kong or Hongkong.", "hongkong"),
    ],
)
def test_a_spelling_with_a_space_counts_as_one_of_two_words(text: str, expected: str) -> None:
    lemmatizer = learn(text)
    assert {lemmatize_text(word, lemmatizer) for word in ("Hong-Kong", "hongkong")} == {expected}


def test_words_next_to_a_function_word_are_no_spelling_with_a_space() -> None:
    lemmatizer = learn("We stand in line, in line and in line. An inline frame, an in-line frame, inline.")
    assert lemmatize_text("in-line inline", lemmatizer) == "inline inline"


def test_a_misspelled_word_does_not_join_the_words_of_a_longer_chain() -> None:
    lemmatizer = learn("State-of-the-art nets, state-of-the-art tools: a stateof the art state-of art, stateof it.")
    assert lemmatize_text("state-of-the-art", lemmatizer) == "state of the art"
    assert lemmatize_text("stateof", lemmatizer) == "stateof"


def test_offsets_cover_a_hyphenated_word_as_it_is_written() -> None:
    document = Document("x", title="No e-mail", text="Multitask nets, my E-\nmails and multi-task-nets.")
    lemmatizer = learn("The email and email. An e-mail and e-mails. Multi-task, multi-task, multitask.")
    tokens = lemmatize_document(document, lemmatizer)
    assert tokens == "no email\nmulti task net\nmy email and multi task net"
    for phrase, written in [("email", ["e-mail", "E-\nmails"]), ("multi task", ["Multitask", "multi-task"])]:
        spans = locate_token_sequences(document, find_occurrences(phrase, tokens), len(phrase.split()), lemmatizer)
        assert [getattr(document, field)[start:end] for field, start, end in spans] == written


def test_unrelated_words_are_not_joined_or_split() -> None:
    lemmatizer = learn("In-a and ina. S-p, sp. Not a dash - here: nothere. They met vis-a-vis, vis-a-vis at an Avis.")
    assert lemmatize_text("in-a ina s-p sp nothere avis", lemmatizer) == "in a ina s p sp nothere avis"


def test_the_encoded_corpus_has_the_tokens_and_offsets_of_its_documents() -> None:
    texts = [
        ("Wi-Fi e-mail", "An e-mail-e-mail by Wi-Fi, wifi; email email."),
        ("", "Multi-task multi-task multitask"),
        ("E-MAIL OR MULTITASK", ""),
        ("", "multitask-wifi E‑mail"),
    ]
    documents = make_documents(*texts)
    corpus = encode_corpus(documents, "en", with_piece_lengths=True)
    lemmatizer = Lemmatizer("en", corpus.lemma_table)
    tokenized = [tokenize_document(document, lemmatizer) for document in documents]
    assert np.diff(corpus.offsets).tolist() == [len(each.words) for each in tokenized]
    assert [corpus.lemmas[i] for i in corpus.lemma_ids] == [lemmatizer[w] for each in tokenized for w in each.words]
    assert corpus.marks[:-1].tolist() == [mark for each in tokenized for mark in each.marks[:-1]]
    assert corpus.piece_lengths is not None
    assert corpus.piece_lengths[:].tolist() == [len(p) for each in tokenized for pieces in each.pieces for p in pieces]
    assert set(corpus.lemmas) == {corpus.lemmas[i] for i in corpus.lemma_ids}
