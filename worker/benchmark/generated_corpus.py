"""A corpus to measure on that needs no data: made-up words, phrases of topics, frequencies after Zipf.

The same seed and count give the same documents everywhere, and a smaller corpus is the beginning of a larger one. The
language does not grow with the corpus, as a real one would: for many documents it can be made larger.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from indexer.documents import Document

SEED = 20
TOPIC_COUNT = 120
PHRASES_PER_TOPIC = 300
WORD_COUNT = 30_000
SENTENCES_PER_DOCUMENT = (6, 10)
ZIPF_EXPONENT = 1.07
"""Zipf's law with Mandelbrot's shift: what has the rank r is drawn with the weight (r + shift) ** -EXPONENT."""
WORD_SHIFT = 8
"""No content word is as frequent as a function word."""
FUNCTION_WORDS = (
    "the of and to in a is that for it as with on by this are from at an be which or we can not has have our also "
    "these their between into than its such more using"
).split()
_ONSETS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl sp st t th tr v w z".split()
_VOWELS = "a e i o u ai ea io ou".split()
_CODAS = ["", "", "l", "m", "n", "nd", "r", "rk", "t", "x", "p", "lt"]
_SYLLABLE_RANKS = (1_000, 12_000)
"""Words of one syllable, and of at most two: well below what there could be."""


@dataclass(frozen=True)
class ZipfSampler:
    """Things drawn with the frequencies of their ranks."""

    items: Sequence[str]
    cumulative_weights: Sequence[float]
    """Running sums."""

    @classmethod
    def from_items(cls, things: Sequence[str], shift: int = 1) -> ZipfSampler:
        return cls(things, list(accumulate((rank + 1 + shift) ** -ZIPF_EXPONENT for rank in range(len(things)))))

    def draw(self, dice: random.Random, count: int) -> list[str]:
        return dice.choices(self.items, cum_weights=self.cumulative_weights, k=count)


@dataclass(frozen=True)
class GeneratedLanguage:
    """What documents are made from."""

    words: ZipfSampler
    topics: Sequence[ZipfSampler]
    function_words: ZipfSampler

    @classmethod
    def create(cls, seed: int = SEED, size: int = 1) -> GeneratedLanguage:
        """``size`` times the words and topics."""
        dice = random.Random(seed)
        words = _generate_words(dice, WORD_COUNT * size)
        special = words[len(words) // 20 :]  # the commonest words make no names
        topics = [
            ZipfSampler.from_items(
                [" ".join(dice.sample(special, dice.choice((1, 2, 2, 2, 3, 3, 4)))) for _ in range(PHRASES_PER_TOPIC)]
            )
            for _ in range(TOPIC_COUNT * size)
        ]
        return cls(ZipfSampler.from_items(words, WORD_SHIFT), topics, ZipfSampler.from_items(FUNCTION_WORDS))


def generate_documents(count: int, seed: int = SEED, language_size: int = 1) -> Iterator[Document]:
    """So many documents of about 120 words; each is about a topic, and a little about a second one.

    ``size``: how many times as large their language is.
    """
    language = GeneratedLanguage.create(seed, language_size)
    topics = ZipfSampler.from_items([str(number) for number in range(len(language.topics))])
    for number in range(count):
        dice = random.Random(f"{seed}:{number}")
        first, second = (language.topics[int(topic)] for topic in topics.draw(dice, 2))
        said = first.draw(dice, 7) + second.draw(dice, 3)
        sentences = [_generate_sentence(language, said, dice) for _ in range(dice.randint(*SENTENCES_PER_DOCUMENT))]
        yield Document(
            id=f"g{number:07}",
            title=f"{said[0]} for {said[1]}".capitalize(),
            text=" ".join(sentences),
            date=f"{2000 + number % 25}-{number % 12 + 1:02}-{number % 28 + 1:02}",
        )


def _generate_sentence(language: GeneratedLanguage, said: Sequence[str], dice: random.Random) -> str:
    """Phrases of the document with common words between them."""
    parts: list[str] = []
    for phrase in dice.choices(said, k=dice.choice((1, 2, 2, 3))):
        parts += language.function_words.draw(dice, 2)
        parts += language.words.draw(dice, 2)
        parts.append(language.function_words.draw(dice, 1)[0])
        parts.append(phrase)
    return " ".join(parts).capitalize() + "."


def _generate_words(dice: random.Random, count: int) -> list[str]:
    """Distinct words of one to three syllables, shorter ones first, as in a language."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = 1 + sum(len(found) >= enough for enough in _SYLLABLE_RANKS)
        found["".join(dice.choice(part) for _ in range(syllables) for part in (_ONSETS, _VOWELS, _CODAS))] = None
    return list(found)
