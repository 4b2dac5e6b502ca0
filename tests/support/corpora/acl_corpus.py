"""A random world: documents with random acls, and words in each that nobody else may ever hear of."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from indexer.documents import Document

GROUPS = ("red", "green", "blue")
SHARED_PHRASES = (
    *("web graph", "link analysis", "random walk", "page rank", "topic model", "search engine", "neural network"),
    *("data stream", "query log", "anchor text", "hash table", "spam filter"),
)
"""Phrases that documents of every acl hold."""
FILLERS = ("is built from", "depends on", "was compared with", "grows beside", "explains", "ranks")
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"


@dataclass
class AclCorpus:
    seeds: tuple[int, ...]
    documents: dict[str, Document] = field(default_factory=dict)
    secrets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Document -> strings that stand in it, and in no document of another acl."""

    def is_readable(self, id: str, groups: frozenset[str] | None) -> bool:
        acl = self.documents[id].acl
        return groups is None or not acl or not groups.isdisjoint(acl)

    def find_forbidden(self, groups: frozenset[str] | None) -> set[str]:
        """What a caller must never be shown."""
        known = {s for id, mine in self.secrets.items() if self.is_readable(id, groups) for s in mine}
        return {s for id, mine in self.secrets.items() if not self.is_readable(id, groups) for s in mine} - known


def join_acl_corpora(seeds: Sequence[int]) -> AclCorpus:
    """Several worlds in one index: each has documents and groups of its own, and hides them from the others, too."""
    whole = AclCorpus(tuple(seeds))
    for seed in seeds:
        one = make_acl_corpus(seed, prefix=f"w{seed}")
        whole.documents |= one.documents
        whole.secrets |= one.secrets
    return whole


def make_acl_corpus(seed: int, size: int = 36, prefix: str = "") -> AclCorpus:
    """``mark``: what the names of its documents and groups begin with."""
    dice = random.Random(seed)
    made = AclCorpus((seed,))
    groups = [prefix + group for group in GROUPS]
    acls = [tuple(sorted(dice.sample(groups, dice.choice((1, 1, 2))))) for _ in range(4)]
    words: dict[tuple[str, ...], AclSecrets] = {acl: AclSecrets(dice) for acl in dict.fromkeys(acls)}
    for number in range(size):
        acl = dice.choice(acls) if dice.random() < 0.5 else ()
        document, secrets = _make_document(dice, f"{prefix}d{number}", acl, words.get(acl))
        made.documents[document.id] = document
        made.secrets[document.id] = secrets
    return made


class AclSecrets:
    """What the documents of one acl share: a phrase, and their own way to write one that all have."""

    def __init__(self, dice: random.Random) -> None:
        self.phrase = f"{_make_word(dice)} {_make_word(dice)}"
        spelled = dice.choice(SHARED_PHRASES)
        cut = dice.randrange(1, len(spelled))
        self.spelling = (spelled[:cut].upper() + spelled[cut:]).replace(" ", "-")


def _make_document(
    dice: random.Random, id: str, acl: tuple[str, ...], shared: AclSecrets | None
) -> tuple[Document, tuple[str, ...]]:
    phrases = dice.sample(SHARED_PHRASES, 4)
    said = [f"The {a} {dice.choice(FILLERS)} the {b}." for a, b in combinations(phrases, 2)]
    if shared is None:
        return Document(id, f"Paper on the {phrases[0]}", " ".join(said), facets={"source": ["open"]}), ()
    own = _make_word(dice)
    said += [f"The {shared.phrase} {dice.choice(FILLERS)} the {phrases[0]}." for _ in range(4)]
    said += [f"The {shared.spelling} {dice.choice(FILLERS)} the {own}." for _ in range(6)]
    dice.shuffle(said)
    facets = {"source": [own], own: ["yes"]}
    document = Document(
        id,
        f"The {own} and the {shared.phrase}",
        " ".join(said),
        "2011-03-11",
        f"http://example.org/{own}",
        facets,
        acl,
        {"note": own},
    )
    return document, (*shared.phrase.split(), own, shared.spelling)


def _make_word(dice: random.Random) -> str:
    """Long enough that no two are alike, and no word of a language."""
    return "".join(dice.choice(_CONSONANTS) + dice.choice(_VOWELS) for _ in range(5)) + "x"
