"""A generated corpus with planted phrases: each field has phrases of its own, and its documents hold some of them.

``a1`` and ``b1`` are a pair of one field, as are ``a2`` and ``b2``. ``a1`` and ``b1`` hold ``SHARED``; only ``a1``
holds ``IMPLIED``, which other documents of the field hold together with phrases of ``b1``; ``ONLY_A`` and ``ONLY_B``
are phrases of other fields.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from indexer.documents import Document

FIELDS = {
    "bees": "waggle dance,honey bee,nectar source,queen cell,brood nest,pollen basket,hive entrance,swarm cluster",
    "boats": "sail boat,harbour wall,tide table,rope knot,anchor chain,keel plank,rudder blade,mast step",
    "bread": "sour dough,rye flour,oven stone,wheat starter,crumb structure,baker yeast,crust colour,salt ratio",
    "stars": "neutron star,gamma burst,dust cloud,light curve,red giant,orbit period,stellar wind,radio pulse",
    "glass": "blow pipe,silica sand,kiln temper,colour rod,annealing oven,flint crystal,window pane,mould seam",
    "trees": "oak bark,sap flow,leaf canopy,root fungus,growth ring,pine needle,forest floor,seed cone",
}
PHRASES = {field: phrases.split(",") for field, phrases in FIELDS.items()}
FILLER = "the of it all was before then again with some and in to on by from at is".split()

SHARED, IMPLIED = "waggle dance", "honey bee"
ONLY_A, ONLY_B = "anchor chain", "radio pulse"
STAFF = "staff"


def write_sentence(phrase: str, dice: random.Random) -> str:
    """Return filler words with the phrase among them."""
    words = dice.sample(FILLER, 6)
    words.insert(3, phrase)
    return " ".join(words).capitalize() + "."


def write_text(phrases: Sequence[str], dice: random.Random, times: int = 2) -> str:
    """Return shuffled sentences, so many about each phrase."""
    sentences = [write_sentence(phrase, dice) for phrase in phrases for _ in range(times)]
    dice.shuffle(sentences)
    return " ".join(sentences)


def make_pair_documents() -> list[Document]:
    """Return the two pairs of documents to compare."""
    dice = random.Random(7)
    phrases_by_id = {
        "a1": [SHARED, IMPLIED, ONLY_A, "tide table", "rope knot", "window pane", "silica sand"],
        "b1": [SHARED, "nectar source", "brood nest", "queen cell", "hive entrance", ONLY_B],
        "a2": ["rye flour", "oven stone", "oak bark", "sap flow", "light curve", "red giant"],
        "b2": ["rye flour", "crumb structure", "baker yeast", "salt ratio", "flint crystal"],
    }
    return [
        Document(id, f"On the {phrases[0]}", write_text(phrases, dice), "2011-03-11", facets={"source": ["planted"]})
        for id, phrases in phrases_by_id.items()
    ]


def generate_field_documents(count: int = 300, seed: int = 1, prefix: str = "d") -> Iterator[Document]:
    """Generate documents of the fields in turn, with four or five phrases of their field, some with one of another."""
    dice = random.Random(seed)
    for number in range(count):
        field = list(PHRASES)[number % len(PHRASES)]
        phrases = dice.sample(PHRASES[field], 4)
        if dice.random() < 0.5:
            phrases.append(PHRASES[field][1])
        if dice.random() < 0.3:
            phrases.append(dice.choice(PHRASES[dice.choice(list(PHRASES))]))
        phrases = list(dict.fromkeys(phrases))
        yield Document(
            id=f"{prefix}{number:04}",
            title=f"On the {phrases[0]}",
            text=write_text(phrases, dice),
            date=f"2011-{number % 12 + 1:02}-{number % 28 + 1:02}",
            facets={"source": [field]},
        )


def make_planted_corpus(count: int = 300) -> list[Document]:
    """Return the two pairs and so many documents of the fields."""
    return [*make_pair_documents(), *generate_field_documents(count)]
