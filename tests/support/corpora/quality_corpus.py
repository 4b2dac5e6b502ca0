"""A generated corpus in which the phrases that each pair shares, implies and does not share are known.

Every document is about one main and two side topics. Two documents of the same main topic and different
side topics make a pair: main phrases in both texts are *surface*, main phrases in one are *semantic*,
phrases of the side topics are *distinct*. Some main phrases are worded differently in half of the
documents (written together), so that wording matters as well as the graph.
"""

from __future__ import annotations

import random

from indexer.documents import Document
from indexer.text.lemmatizer import Lemmatizer
from worker.evaluation.gold import GoldDocument, GoldPair, build_gold_document, label_pair

TOPIC_COUNT = 12
PHRASES_PER_TOPIC = 14
_SYLLABLES = [consonant + vowel for consonant in "bdklmnr" for vowel in "aeiou"]
_FILLER = "we then show that it is in our work and this was made with some care for every case of the kind".split()


class QualityCorpus:
    """The documents, their topics, and labelled pairs of them."""

    def __init__(self, documents: int = 360, seed: int = 3) -> None:
        self._chance = random.Random(seed)
        words = self._make_words(TOPIC_COUNT * PHRASES_PER_TOPIC * 2)
        self.topics = [[f"{words.pop()} {words.pop()}" for _ in range(PHRASES_PER_TOPIC)] for _ in range(TOPIC_COUNT)]
        self.documents, self._about = [], {}
        for n in range(documents):
            main, *sides = self._chance.sample(range(TOPIC_COUNT), 3)
            self._add_document(f"d{n}", main, sides)

    def _make_words(self, count: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < count:
            words["".join(self._chance.choices(_SYLLABLES, k=3)) + "x"] = None
        return list(words)

    def _add_document(self, id: str, main: int, others: list[int]) -> None:
        mains = self._chance.sample(self.topics[main], 5)
        sides = [phrase for topic in others for phrase in self._chance.sample(self.topics[topic], 5)]
        written = [self._vary_wording(phrase) for phrase in mains] + sides
        sentences = []
        for phrase in written * 2:
            filler = self._chance.sample(_FILLER, 5)
            sentences.append(" ".join([*filler[:3], phrase, *filler[3:]]) + ".")
        self._chance.shuffle(sentences)
        self.documents.append(Document(id=id, title=f"On {mains[0]} and {sides[0]}", text=" ".join(sentences)))
        self._about[id] = (main, frozenset(others), frozenset(sides))

    def _vary_wording(self, phrase: str) -> str:
        """Return the phrase, written as one word half of the time if it is among the last seven of its topic."""
        late = any(phrase in topic[-7:] for topic in self.topics)
        return phrase.replace(" ", "") if late and self._chance.random() < 0.5 else phrase

    def make_gold_pairs(self, count: int = 80) -> list[GoldPair]:
        """Return labelled pairs with the same main topic and different side topics."""
        lemmas = Lemmatizer("en")
        pairs: list[GoldPair] = []
        chance = random.Random(5)
        while len(pairs) < count:
            a, b = chance.sample(self.documents, 2)
            (main_a, others_a, _), (main_b, others_b, _) = self._about[a.id], self._about[b.id]
            if main_a == main_b and not others_a & others_b:
                pairs.append(label_pair(self._make_gold_document(a, lemmas), self._make_gold_document(b, lemmas)))
        return pairs

    def _make_gold_document(self, document: Document, lemmas: Lemmatizer) -> GoldDocument:
        """Return the document with its keywords: every phrase of the main topic, and the side phrases in its text."""
        main, _, sides = self._about[document.id]
        row = {"id": document.id, "title": document.title, "text": document.text}
        return build_gold_document(row | {"keyphrases": [*self.topics[main], *sorted(sides)]}, lemmas)
