"""A small corpus of made-up documents, each about a topic, with the phrases of the topic planted in it."""

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


def generate_documents(
    count: int, seed: int = 1, topics: tuple[str, ...] = ("bees", "boats", "bread")
) -> Iterator[Document]:
    """Generate documents of the topics in turn, with a planted phrase in every sentence."""
    rng = random.Random(seed)
    names = list(topics)
    for number in range(count):
        topic = names[number % len(names)]
        sentences = []
        for _ in range(8):
            words = rng.sample(FILLER, 6)
            words.insert(3, rng.choice(TOPICS[topic]))
            sentences.append(" ".join(words).capitalize() + ".")
        yield Document(
            id=f"{topic}-{number:03}",
            title=f"On the {rng.choice(TOPICS[topic])}",
            text=" ".join(sentences),
            date="2011-03-11",
            facets={"topic": (topic,)},
        )


def write_jsonl(path: Path, documents: Iterator[Document]) -> Path:
    """Write the documents as a file of JSON lines."""
    with path.open("w") as stream:
        for document in documents:
            record = {name: getattr(document, name) for name in ("id", "title", "text", "date")}
            stream.write(json.dumps(record | {"facets": dict(document.facets)}) + "\n")
    return path
