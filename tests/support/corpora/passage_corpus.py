"""A generated corpus of five topics in English words, and documents of which one sentence is about a query, or none."""

from __future__ import annotations

import random

from indexer.documents import Document

INDEX = "planted"
TOPICS = {
    "medicine": "physician hospital nurse surgery illness doctor clinic patient treatment medicine".split(),
    "sport": "football team player coach goal match league stadium champion season".split(),
    "money": "bank loan interest investor market share bond currency profit credit".split(),
    "weather": "rain storm wind cloud temperature snow forecast thunder flood drought".split(),
    "music": "guitar concert singer melody orchestra piano violin album song choir".split(),
}
QUERY = "physician surgery"
ABOUT_QUERY = "The doctor saw each patient of the clinic for a treatment."
SENTENCES = [
    "The team came with a coach and a player in the stadium.",
    "The bank gave the investor its bond at a profit.",
    ABOUT_QUERY,
    "The storm came with rain and wind in the snow.",
    "The singer gave a concert with the piano and the violin.",
]
OTHER_WORDS = Document("other-words", "A week in town", " ".join(SENTENCES))
SOME_WORDS = Document("some-words", "News", " ".join(SENTENCES).replace("doctor", "physician"))
ALL_WORDS = Document("all-words", "News", " ".join(SENTENCES).replace("doctor", "physician after surgery"))
UNRELATED = Document("unrelated", "Play", " ".join(one for one in SENTENCES if one != ABOUT_QUERY))
ONLY_TITLE = Document("only-title", ABOUT_QUERY, UNRELATED.text)
EMPTY = Document("empty", ABOUT_QUERY, "")
PLANTED = (OTHER_WORDS, SOME_WORDS, ALL_WORDS, UNRELATED, ONLY_TITLE, EMPTY)


TEMPLATES = (
    "The {} saw each {} of the {} for a {}.",
    "The {} came with {} and {} in the {}.",
    "A {} gave the {} its {} at a {}.",
)
"""The other words of a sentence are as frequent in the corpus as function words are."""


def make_documents() -> list[Document]:
    """Return documents about one topic each, enough to tell evidence from noise, and those above."""
    chance = random.Random(3)
    documents = []
    for number in range(400):
        words = TOPICS[list(TOPICS)[number % len(TOPICS)]]
        sentences = [chance.choice(TEMPLATES).format(*chance.sample(words, 4)) for _ in range(6)]
        documents.append(Document(f"d{number}", chance.choice(words), " ".join(sentences)))
    return documents + list(PLANTED)
