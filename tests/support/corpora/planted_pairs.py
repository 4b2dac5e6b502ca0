"""A made-up corpus with planted phrases: a field has phrases that go together, documents hold some of them.

``a1`` and ``b1`` (and ``a2``, ``b2``) are pairs of one field. Both hold ``SHARED``; only a holds ``IMPLIED``, which
the field's other documents mostly hold together with phrases of b; each holds a phrase of a field far away.
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
PHRASES = {field: listed.split(",") for field, listed in FIELDS.items()}
FILLER = "the of it all was before then again with some and in to on by from at is".split()

SHARED, IMPLIED = "waggle dance", "honey bee"
ONLY_A, ONLY_B = "anchor chain", "radio pulse"
STAFF = "staff"


def sentence(phrase: str, dice: random.Random) -> str:
    words = dice.sample(FILLER, 6)
    words.insert(3, phrase)
    return " ".join(words).capitalize() + "."


def text(phrases: Sequence[str], dice: random.Random, times: int = 2) -> str:
    said = [sentence(phrase, dice) for phrase in phrases for _ in range(times)]
    dice.shuffle(said)
    return " ".join(said)


def planted() -> list[Document]:
    """Two pairs of documents to compare."""
    dice = random.Random(7)
    held = {
        "a1": [SHARED, IMPLIED, ONLY_A, "tide table", "rope knot", "window pane", "silica sand"],
        "b1": [SHARED, "nectar source", "brood nest", "queen cell", "hive entrance", ONLY_B],
        "a2": ["rye flour", "oven stone", "oak bark", "sap flow", "light curve", "red giant"],
        "b2": ["rye flour", "crumb structure", "baker yeast", "salt ratio", "flint crystal"],
    }
    return [
        Document(name, f"On the {phrases[0]}", text(phrases, dice), date="2011-03-11", facets={"source": ["planted"]})
        for name, phrases in held.items()
    ]


def field_documents(count: int = 300, seed: int = 1, prefix: str = "d") -> Iterator[Document]:
    """Documents of the fields in turn, each with four of its field's phrases and now and then a strange one."""
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
            text=text(phrases, dice),
            date=f"2011-{number % 12 + 1:02}-{number % 28 + 1:02}",
            facets={"source": [field]},
        )


def corpus(count: int = 300) -> list[Document]:
    return [*planted(), *field_documents(count)]
