"""Random documents with random acls, each with words that only its readers may see."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from indexer.documents import Document
from indexer.vectors import encode_vector

VECTOR_SIZE = 4
"""Dimensions of the documents' vectors."""
GROUPS = ("red", "green", "blue")
SHARED_PHRASES = (
    *("web graph", "link analysis", "random walk", "page rank", "topic model", "search engine", "neural network"),
    *("data stream", "query log", "anchor text", "hash table", "spam filter"),
)
"""Phrases in documents of every acl."""
FILLERS = ("is built from", "depends on", "was compared with", "grows beside", "explains", "ranks")
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"


@dataclass
class AclCorpus:
    """Documents by id, and the strings in them that must stay secret."""

    seeds: tuple[int, ...]
    documents: dict[str, Document] = field(default_factory=dict)
    secrets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Document id -> strings that occur in it, and in no document of another acl."""

    def is_readable(self, id: str, groups: frozenset[str] | None) -> bool:
        acl = self.documents[id].acl
        return groups is None or not acl or not groups.isdisjoint(acl)

    def find_forbidden(self, groups: frozenset[str] | None) -> set[str]:
        """Return the strings that a caller with these groups must never see."""
        known = {s for id, mine in self.secrets.items() if self.is_readable(id, groups) for s in mine}
        return {s for id, mine in self.secrets.items() if not self.is_readable(id, groups) for s in mine} - known

    def add_vectors(self) -> None:
        """Give every document a vector of its own."""
        for id, document in self.documents.items():
            self.documents[id] = replace(document, vector=encode_vector(make_random_vector(random.Random(id))))

    def write_guesses(self, ids: Sequence[str]) -> str:
        """Return a text with every phrase that these documents hold, in their own spelling but for secret ones."""
        texts = [f"{self.documents[id].title}. {self.documents[id].text}" for id in ids if self.secrets[id]]
        return " ".join(sentence for text in texts for sentence in _list_plain_sentences(text))


def _list_plain_sentences(text: str) -> list[str]:
    """Return the sentences of a text that contain no secret spelling."""
    return [f"{sentence.strip(' .')}." for sentence in text.split(". ") if "-" not in sentence]


def make_random_vector(chance: random.Random) -> list[float]:
    """Return a vector that no filter of a search leaves out."""
    return [0.1 + chance.random() for _ in range(VECTOR_SIZE)]


def join_acl_corpora(seeds: Sequence[int]) -> AclCorpus:
    """Return several corpora as one, each with documents and groups of its own, hidden from the others too."""
    joint = AclCorpus(tuple(seeds))
    for seed in seeds:
        corpus = make_acl_corpus(seed, prefix=f"w{seed}")
        joint.documents |= corpus.documents
        joint.secrets |= corpus.secrets
    return joint


def make_acl_corpus(seed: int, size: int = 36, prefix: str = "") -> AclCorpus:
    """Return a random corpus; the names of its documents and groups begin with ``prefix``."""
    chance = random.Random(seed)
    corpus = AclCorpus((seed,))
    groups = [prefix + group for group in GROUPS]
    acls = [tuple(sorted(chance.sample(groups, chance.choice((1, 1, 2))))) for _ in range(4)]
    words: dict[tuple[str, ...], AclSecrets] = {acl: AclSecrets(chance) for acl in dict.fromkeys(acls)}
    for number in range(size):
        acl = chance.choice(acls) if chance.random() < 0.5 else ()
        document, secrets = _make_document(chance, f"{prefix}d{number}", acl, words.get(acl))
        corpus.documents[document.id] = document
        corpus.secrets[document.id] = secrets
    return corpus


class AclSecrets:
    """Secrets that the documents of one acl share: a phrase, and a spelling of one of the shared phrases."""

    def __init__(self, chance: random.Random) -> None:
        self.phrase = f"{_make_word(chance)} {_make_word(chance)}"
        spelled = chance.choice(SHARED_PHRASES)
        cut = chance.randrange(1, len(spelled))
        self.spelling = (spelled[:cut].upper() + spelled[cut:]).replace(" ", "-")


def _make_document(
    chance: random.Random, id: str, acl: tuple[str, ...], shared: AclSecrets | None
) -> tuple[Document, tuple[str, ...]]:
    phrases = chance.sample(SHARED_PHRASES, 4)
    sentences = [f"The {a} {chance.choice(FILLERS)} the {b}." for a, b in combinations(phrases, 2)]
    if shared is None:
        return Document(id, f"Paper on the {phrases[0]}", " ".join(sentences), facets={"source": ["open"]}), ()
    own_word = _make_word(chance)
    sentences += [f"The {shared.phrase} {chance.choice(FILLERS)} the {phrases[0]}." for _ in range(4)]
    sentences += [f"The {shared.spelling} {chance.choice(FILLERS)} the {own_word}." for _ in range(6)]
    chance.shuffle(sentences)
    facets = {"source": [own_word], own_word: ["yes"]}
    document = Document(
        id,
        f"The {own_word} and the {shared.phrase}",
        " ".join(sentences),
        "2011-03-11",
        f"http://example.org/{own_word}",
        facets,
        acl,
        {"note": own_word},
    )
    return document, (*shared.phrase.split(), own_word, shared.spelling)


def _make_word(chance: random.Random) -> str:
    """Return a word of no language, long enough that no two are alike."""
    return "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(5)) + "x"
