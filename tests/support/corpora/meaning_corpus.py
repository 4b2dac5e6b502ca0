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
UNRELATED_QUERY = "carburetor gearbox"


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


def get_field(id: str) -> str:
    """Return the field of a document of this corpus."""
    return id.partition("-")[0]
