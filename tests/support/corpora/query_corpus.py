"""A generated corpus to query: topics without a word in common, general phrases in all of them, and planted rare words.

Every document is about one topic and holds some of its phrases, and two general phrases that documents of all topics
hold. Documents of two topics are unrelated. Acronyms, names and numbers are planted in one document each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.documents import Document
from indexer.engines import open_engine
from indexer.indexing.build import build_index
from worker.comparer import Comparer

TOPIC_COUNT = 40
DOCUMENTS_PER_TOPIC = 10
_PHRASES_PER_TOPIC = 6
_SYLLABLES = [consonant + vowel for consonant in "bdklmnr" for vowel in "aeiou"]
_GENERAL = ["control panel", "data file", "command line", "user account", "home folder", "main window"]
_FILLER = "we then show that it is in our work and this was made with some care for every one of them".split()

_ACRONYMS = ("AWS", "DVDs", "GPUs", "IPs", "APIs", "NAS")
_NAMES = ("mgetty", "cdrskin", "Reuters", "Courtney", "DataFrames", "McKinsey")
_NUMBERS = ("mp3gain", "8021", "2.4.18", "EC2")
PLANTED = (*_ACRONYMS, *_NAMES, *_NUMBERS)
"""Planted words as they are written, each in the document ``planted-WORD``."""
CAPITALS = "AWS EC2 NAS"
"""Title, all in capitals, of the document ``capitals``."""


INDEX = "planted"


class QueryCorpus:
    """The documents, and the phrases of each topic."""

    def __init__(self, seed: int = 7) -> None:
        self._chance = random.Random(seed)
        words = self._make_words(TOPIC_COUNT * _PHRASES_PER_TOPIC * 2)
        self.topics = [[f"{words.pop()} {words.pop()}" for _ in range(_PHRASES_PER_TOPIC)] for _ in range(TOPIC_COUNT)]
        self.topic_by_id: dict[str, int] = {}
        self.documents: list[Document] = []
        for number in range(TOPIC_COUNT * DOCUMENTS_PER_TOPIC):
            self._add_document(f"d{number:03}", number % TOPIC_COUNT)
        for number, word in enumerate(PLANTED):
            self._add_document(f"planted-{word}", number, word)
        self.documents.append(Document(id="capitals", title=CAPITALS, text=self.documents[0].text))
        self.topic_by_id["capitals"] = 0

    def draw_unrelated(self, topic: int, count: int) -> list[str]:
        """Return the ids of random documents of other topics."""
        others = [id for id, own in self.topic_by_id.items() if own != topic]
        return random.Random(topic).sample(others, count)

    @contextmanager
    def index_in(self, folder: Path) -> Iterator[Comparer]:
        """Index the documents in a folder, under the name ``INDEX``, and give a comparer."""
        with open_engine(str(folder)) as engine:
            build_index(self.documents, engine, INDEX, processes=1)
            yield Comparer(engine)

    def _make_words(self, count: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < count:
            words["".join(self._chance.choices(_SYLLABLES, k=3)) + "x"] = None
        return list(words)

    def _add_document(self, id: str, topic: int, planted: str = "") -> None:
        phrases = self._chance.sample(self.topics[topic], 4)
        sentences = [self._write_sentence(phrase) for phrase in phrases * 2 + self._chance.sample(_GENERAL, 2)]
        self._chance.shuffle(sentences)
        sentences += [self._write_sentence(planted)] if planted else []
        self.documents.append(Document(id=id, title=f"On {phrases[0]}", text=" ".join(sentences)))
        self.topic_by_id[id] = topic

    def _write_sentence(self, phrase: str) -> str:
        filler = self._chance.sample(_FILLER, 5)
        return " ".join([*filler[:3], phrase, *filler[3:]]) + "."
