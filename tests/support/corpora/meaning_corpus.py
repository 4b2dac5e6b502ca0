"""Documents of six fields, each in words of its own, and queries about a field that share no word with any document."""

from __future__ import annotations

import random
from collections.abc import Sequence

from indexer.documents import Document

FIELDS = {
    "astronomy": "telescope galaxy astronomer planet orbit comet nebula observatory moon eclipse satellite lunar",
    "cooking": "flour oven butter dough recipe sugar bake frying pan sauce pepper onion",
    "football": "goalkeeper striker penalty stadium coach defender league tournament referee kick midfield club",
    "medicine": "surgeon hospital patient diagnosis nurse therapy tumor clinic symptom vaccine physician disease",
    "finance": "bank loan mortgage credit interest debt lender deposit stock investor broker dividend",
    "music": "violin orchestra melody guitar pianist chorus composer opera drum harmony concert singer",
}
"""Field -> the words of its documents."""
QUERIES = {
    "astronomy": "stargazing",
    "cooking": "prepare a tasty meal",
    "football": "soccer",
    "medicine": "illness",
    "finance": "borrow money",
    "music": "songs",
}
"""Field -> a query about it."""
FILLER = (
    "window carpet chair desk lamp corridor elevator staircase curtain shelf drawer mirror tunnel bridge highway lorry "
    "bicycle tram ferry harbour anchor sailor rope barrel hammer nail screw ladder bucket paint brick cement roof tile "
    "letter stamp envelope parcel courier ticket passport luggage hotel reception blanket pillow towel soap shampoo "
    "horse sheep goat tractor barn fence meadow hay cattle shepherd wool thread needle button zipper jacket sleeve "
    "judge lawyer verdict prison police burglar witness jury senator ballot minister parliament treaty border soldier"
)
"""Words of documents that are about nothing in particular."""
UNRELATED_QUERY = "volcano lava"


def make_meaning_documents(per_field: int = 60, fields: Sequence[str] = tuple(FIELDS), seed: int = 1) -> list[Document]:
    """Return documents of ten words of their field, with ids such as ``music-3`` and the field as a facet."""
    draw = random.Random(seed)
    return [
        Document(
            f"{field}-{n}",
            title=" ".join(draw.sample(FIELDS[field].split(), 2)),
            text=f"The {' and the '.join(draw.sample(FIELDS[field].split(), 8))}.",
            facets={"field": (field,)},
        )
        for n in range(per_field)
        for field in fields
    ]


def make_filler_documents(count: int, seed: int = 2) -> list[Document]:
    """Return documents of nine words that have nothing to do with each other, with ids such as ``filler-3``."""
    draw = random.Random(seed)
    texts = [draw.sample(FILLER.split(), 9) for _ in range(count)]
    return [
        Document(f"filler-{n}", " ".join(words[:2]), f"The {' and the '.join(words)}.") for n, words in enumerate(texts)
    ]


def get_field(id: str) -> str:
    """Return the field of a document of this corpus."""
    return id.partition("-")[0]
