"""Generated documents: made-up words, phrases grouped in topics, and frequencies that follow Zipf's law.

A seed gives the same documents everywhere, and a smaller corpus is the beginning of a larger one. The vocabulary does
not grow with the corpus, as that of a real language would: for many documents it can be made larger.
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
"""Exponent of Zipf's law with Mandelbrot's shift: rank r is drawn with the weight (r + shift) ** -ZIPF_EXPONENT."""
WORD_SHIFT = 8
"""Shift of the content words, so that none is as frequent as a function word."""
FUNCTION_WORDS = (
    "the of and to in a is that for it as with on by this are from at an be which or we can not has have our also "
    "these their between into than its such more using"
).split()
_ONSETS = "b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl sp st t th tr v w z".split()
_VOWELS = "a e i o u ai ea io ou".split()
_CODAS = ["", "", "l", "m", "n", "nd", "r", "rk", "t", "x", "p", "lt"]
_SYLLABLE_RANKS = (1_000, 12_000)
"""Number of words of one syllable and of at most two, well below the number of possible ones."""


@dataclass(frozen=True)
class ZipfSampler:
    """Items drawn with weights that follow Zipf's law; the most frequent is first."""

    items: Sequence[str]
    cumulative_weights: Sequence[float]

    @classmethod
    def from_items(cls, items: Sequence[str], shift: int = 1) -> ZipfSampler:
        return cls(items, list(accumulate((rank + 1 + shift) ** -ZIPF_EXPONENT for rank in range(len(items)))))

    def draw(self, rng: random.Random, count: int) -> list[str]:
        return rng.choices(self.items, cum_weights=self.cumulative_weights, k=count)


@dataclass(frozen=True)
class GeneratedLanguage:
    """Vocabulary that documents are generated from."""

    words: ZipfSampler
    topics: Sequence[ZipfSampler]
    """Phrases of each topic."""
    function_words: ZipfSampler

    @classmethod
    def create(cls, seed: int = SEED, size_factor: int = 1) -> GeneratedLanguage:
        """Generate a language with ``size_factor`` times the usual number of words and topics."""
        rng = random.Random(seed)
        words = _generate_words(rng, WORD_COUNT * size_factor)
        rare_words = words[len(words) // 20 :]  # phrases have none of the commonest words
        topics = [
            ZipfSampler.from_items(
                [" ".join(rng.sample(rare_words, rng.choice((1, 2, 2, 2, 3, 3, 4)))) for _ in range(PHRASES_PER_TOPIC)]
            )
            for _ in range(TOPIC_COUNT * size_factor)
        ]
        return cls(ZipfSampler.from_items(words, WORD_SHIFT), topics, ZipfSampler.from_items(FUNCTION_WORDS))


def generate_documents(count: int, seed: int = SEED, language_size: int = 1) -> Iterator[Document]:
    """Yield ``count`` documents of about 120 words; each is about one topic, and a little about a second one.

    ``language_size`` multiplies the number of words and topics of their language.
    """
    language = GeneratedLanguage.create(seed, language_size)
    topics = ZipfSampler.from_items([str(number) for number in range(len(language.topics))])
    for number in range(count):
        rng = random.Random(f"{seed}:{number}")
        first, second = (language.topics[int(topic)] for topic in topics.draw(rng, 2))
        phrases = first.draw(rng, 7) + second.draw(rng, 3)
        sentences = [_generate_sentence(language, phrases, rng) for _ in range(rng.randint(*SENTENCES_PER_DOCUMENT))]
        yield Document(
            id=f"g{number:07}",
            title=f"{phrases[0]} for {phrases[1]}".capitalize(),
            text=" ".join(sentences),
            date=f"{2000 + number % 25}-{number % 12 + 1:02}-{number % 28 + 1:02}",
        )


def _generate_sentence(language: GeneratedLanguage, phrases: Sequence[str], rng: random.Random) -> str:
    """Return a sentence of some of the phrases with common words between them."""
    parts: list[str] = []
    for phrase in rng.choices(phrases, k=rng.choice((1, 2, 2, 3))):
        parts += language.function_words.draw(rng, 2)
        parts += language.words.draw(rng, 2)
        parts.append(language.function_words.draw(rng, 1)[0])
        parts.append(phrase)
    return " ".join(parts).capitalize() + "."


def _generate_words(rng: random.Random, count: int) -> list[str]:
    """Return distinct words of one to three syllables, shorter ones first, as in a language."""
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = 1 + sum(len(words) >= limit for limit in _SYLLABLE_RANKS)
        words["".join(rng.choice(part) for _ in range(syllables) for part in (_ONSETS, _VOWELS, _CODAS))] = None
    return list(words)
