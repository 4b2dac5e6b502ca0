"""Parts of speech of sentences: by the words around, by the form, and of a document whatever is in its batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents import Document
from indexer.syntax import tagger
from indexer.syntax.lexicon import load_lexicon, load_rules
from indexer.syntax.tagger import tag_tokens
from indexer.syntax.tags import Tag
from indexer.syntax.word_features import get_tags, load_word_feature_table, number_rule_words
from tests.support.tagged_texts import show_tags, tag_documents, tag_text

SENTENCES = [
    # news
    ("The bank raised its prime lending rate.", "The/DT bank/NN raised/VBD its/PRP_S prime/JJ lending/NN rate/NN"),
    ("Shares of the company have risen.", "Shares/NNS of/IN the/DT company/NN have/VBP risen/VBN"),
    ("They plan to fund the project.", "They/PRP plan/VBP to/TO fund/VB the/DT project/NN"),
    ("The fund was closed by the state.", "The/DT fund/NN was/VBD closed/VBN by/IN the/DT state/NN"),
    # papers
    ("We train neural networks on images.", "We/PRP train/VBP neural/JJ networks/NNS on/IN images/NNS"),
    ("The method consists of two steps.", "The/DT method/NN consists/VBZ of/IN two/CD steps/NNS"),
    ("This work proposes a new loss.", "This/DT work/NN proposes/VBZ a/DT new/JJ loss/NN"),
    # documentation
    ("Returns the sum of an array.", "Returns/VBZ the/DT sum/NN of/IN an/DT array/NN"),
    ("score_mode must be a string.", "score_mode/NNP must/MD be/VB a/DT string/NN"),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_words_get_the_tag_of_their_place(text: str, expected: str) -> None:
    assert show_tags(text) == expected


@pytest.mark.parametrize("word", ["government", "half", "theorem", "neural", "dataset"])
@pytest.mark.parametrize(
    "frame", ["It is {} the best.", "They have {} it.", "He will {} the house.", "It was {} by it."]
)
def test_a_word_that_is_no_verb_is_never_tagged_as_one(frame: str, word: str) -> None:
    tagged = tag_text(frame.format(word))
    assert not tagged.tag_names[tagged.words.index(word)].startswith("VB")


def test_function_words_keep_their_tags() -> None:
    assert "a/DT barrel" in show_tags("It cost 50 cents a barrel, which grows")
    assert "is/VBZ" in show_tags("the use of such networks is of great use")
    assert "not/RB" in show_tags("it does not scale")


def test_a_negated_verb_is_like_the_verb() -> None:
    assert show_tags("It isn't a bank") == "It/PRP isn't/VBZ a/DT bank/NN"
    assert show_tags("They don't fund it") == "They/PRP don't/MD fund/VB it/PRP"


def test_a_capital_tells_nothing_where_a_sentence_begins() -> None:
    assert show_tags("It fell. Banks rose.") == "It/PRP fell/VBD Banks/NNS rose/VBD"
    assert show_tags("It said Banks rose.").split()[2] == "Banks/NNP"


@pytest.mark.parametrize(
    "title", ["Learning to Rank for Information Retrieval", "learning to rank for information retrieval"]
)
def test_titles_are_tagged_alike_with_and_without_capitals(title: str) -> None:
    assert tag_text("", title).tag_names == ["VBG", "TO", "VB", "IN", "NN", "NN"]


def test_a_field_in_capitals_is_tagged_as_words() -> None:
    assert tag_text("", "BANK RAISES PRIME RATE").tag_names == ["NN", "VBZ", "JJ", "NN"]


def test_codes_and_abbreviations_in_capitals_are_names() -> None:
    assert show_tags("The US and IBM bought IT.") == "The/DT US/NNP and/CC IBM/NNP bought/VBD IT/NNP"


def test_no_rule_sees_another_sentence() -> None:
    """After "can", "work" is a verb; a full stop between them undoes that."""
    assert show_tags("They can work").endswith("work/VB")
    assert show_tags("As he can. Work stops").split()[3] == "Work/NN"


_WORDS = st.sampled_from(
    "the The bank can to half as as. as, is is. Apple's it's Japan of and , - new New General Motors using based has"
    " not networks learning Bank 13 1987 score_mode don't s U.S. government over-the-counter 東 Ω".split()
)
_TEXTS = st.lists(_WORDS, max_size=12).map(" ".join)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.tuples(_TEXTS, _TEXTS), max_size=4))
def test_a_document_is_tagged_alike_alone_and_in_any_batch(fields: list[tuple[str, str]]) -> None:
    documents = [Document(id=str(i), title=title, text=text) for i, (title, text) in enumerate(fields)]
    together, alone = tag_documents(documents), [tag_documents([document]) for document in documents]
    assert together.tag_names == [name for each in alone for name in each.tag_names]
    assert together.phrases == [phrase for each in alone for phrase in each.phrases]


def test_the_number_of_passes_does_not_grow_with_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    match = tagger._match_shifted

    def count_passes(tags: tagger.Tags, offset: int, tag: int) -> tagger.Tags:
        passes.append(len(tags))
        return match(tags, offset, tag)  # type: ignore[return-value]

    monkeypatch.setattr(tagger, "_match_shifted", count_passes)
    counts = []
    for number in (1, 50):
        passes.clear()
        tag_documents([Document(id=str(i), text="The bank raised its rate.") for i in range(number)])
        counts.append(len(passes))
    assert counts[0] == counts[1] < 3 * len(load_rules())


@pytest.mark.parametrize(
    "text", ["", " ", "...!?", "«»—„“", "\x00\x01", "\u200d\u0301", "💥 💥", "東京 Ελλάδα мир", "I", "'s"]
)
def test_any_text_is_tagged(text: str) -> None:
    tagged = tag_text(text, text)
    assert len(tagged.tags) == len(tagged.words)
    assert all(Tag(tag) for tag in tagged.tags)


@pytest.mark.slow
def test_a_line_of_five_megabytes_is_tagged() -> None:
    tagged = tag_text("the quick-brown fox's score_mode jumps over " * 115_000)
    assert len(tagged.tags) == 115_000 * 7
    np.testing.assert_array_equal(tagged.tags[7:14], tagged.tags[-14:-7])


def test_arrays_without_tokens_give_none() -> None:
    assert tag_tokens(np.zeros(0, dtype=np.uint32), np.ones(1, dtype=np.uint8)).shape == (0,)


def test_rules_look_no_farther_than_the_pseudo_tokens_between_sentences() -> None:
    rules = load_rules()
    offsets = {condition.offset for rule in rules for context in rule.contexts for condition in context}
    assert max(map(abs, offsets)) <= tagger._REACH
    assert len(number_rule_words(rules)) < 1 << 7


def test_a_word_begins_with_the_tag_of_the_lexicon() -> None:
    words = ["house", "quickly", "Japan"]
    features = load_word_feature_table().get_features(words)
    assert get_tags(features)[:, 0].tolist() == [load_lexicon()[word].tag for word in words]
