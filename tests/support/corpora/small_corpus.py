"""Small made-up corpora for tests: no real text, phrases planted on purpose."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from indexer.documents import Document

TOPICS = {
    "bees": ["waggle dance", "honey bee", "queen bee", "flower field", "nectar source"],
    "boats": ["sail boat", "harbour wall", "tide table", "rope knot", "life jacket"],
    "whales": ["blue whale", "sperm whale", "ice floe", "deep water", "ocean floor"],
    "bread": ["sour dough", "rye flour", "oven stone", "proofing basket", "wheat starter"],
}
FILLER = "the keeper saw how near it all was before a long day and went away again with some of them".split()


def made_up(count: int, seed: int = 1, topics: tuple[str, ...] = ("bees", "boats", "bread")) -> Iterator[Document]:
    """Documents of the topics in turn; every sentence holds a planted phrase."""
    dice = random.Random(seed)
    names = list(topics)
    for number in range(count):
        topic = names[number % len(names)]
        sentences = []
        for _ in range(8):
            words = dice.sample(FILLER, 6)
            words.insert(3, dice.choice(TOPICS[topic]))
            sentences.append(" ".join(words).capitalize() + ".")
        yield Document(
            id=f"{topic}-{number:03}",
            title=f"On the {dice.choice(TOPICS[topic])}",
            text=" ".join(sentences),
            date="2011-03-11",
            facets={"topic": (topic,)},
        )


def write_lines(path: Path, documents: Iterator[Document]) -> Path:
    """The same documents as a file of JSON lines."""
    with path.open("w") as stream:
        for one in documents:
            fields = {"id": one.id, "title": one.title, "text": one.text, "date": one.date, "facets": dict(one.facets)}
            stream.write(json.dumps(fields) + "\n")
    return path
