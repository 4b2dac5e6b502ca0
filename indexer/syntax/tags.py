"""Parts of speech: the tags of the Penn Treebank."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Tag(IntEnum):
    """Part of speech of a token; the last ones are of pseudo-tokens that stand for punctuation."""

    NN = 1
    """Noun, singular: house."""
    NNS = 2
    """Noun, plural: houses."""
    NNP = 3
    """Name: Japan."""
    NNPS = 4
    """Name, plural: Democrats."""
    JJ = 5
    """Adjective: large."""
    JJR = 6
    """Adjective, comparative: larger."""
    JJS = 7
    """Adjective, superlative: largest."""
    VB = 8
    """Verb, base form: take."""
    VBD = 9
    """Verb, past tense: took."""
    VBG = 10
    """Verb, gerund or present participle: taking."""
    VBN = 11
    """Verb, past participle: taken."""
    VBP = 12
    """Verb, present tense, not third person: (they) take."""
    VBZ = 13
    """Verb, present tense, third person: takes."""
    MD = 14
    """Modal verb: can."""
    CD = 15
    """Number: 3.5, three."""
    RB = 16
    """Adverb: quickly."""
    RBR = 17
    """Adverb, comparative: sooner."""
    RBS = 18
    """Adverb, superlative: soonest."""
    IN = 19
    """Preposition or subordinating conjunction: of, because."""
    DT = 20
    """Determiner: the."""
    PDT = 21
    """Word before a determiner: half (the price)."""
    WDT = 22
    """Determiner of a relative clause or a question: which."""
    PRP = 23
    """Personal pronoun: they."""
    PRP_S = 24
    """Possessive pronoun, ``PRP$``: their."""
    WP = 25
    """Pronoun of a relative clause or a question: who."""
    WP_S = 26
    """Possessive pronoun of a relative clause or a question, ``WP$``: whose."""
    WRB = 27
    """Adverb of a relative clause or a question: where."""
    CC = 28
    """Coordinating conjunction: and."""
    TO = 29
    """to."""
    EX = 30
    """there (is)."""
    RP = 31
    """Particle of a verb: (give) up."""
    UH = 32
    """Interjection: oh."""
    FW = 33
    """Foreign word: et."""
    SYM = 34
    """Symbol, or a word of another script."""
    POS = 35
    """Pseudo-token: the 's of a word that ends in it."""
    COMMA = 36
    """Pseudo-token: punctuation within a sentence."""
    STOP = 37
    """Pseudo-token: the end of a sentence."""
    START = 38
    """Pseudo-token: the start of a sentence."""


_PENN_NAMES = {"PRP$": Tag.PRP_S, "WP$": Tag.WP_S, ",": Tag.COMMA, ".": Tag.STOP, "STAART": Tag.START}

NOUNS = (Tag.NN, Tag.NNS, Tag.NNP, Tag.NNPS)
CLOSED_CLASSES = frozenset(
    {Tag.MD, Tag.IN, Tag.DT, Tag.PDT, Tag.WDT, Tag.PRP, Tag.PRP_S, Tag.WP, Tag.WP_S, Tag.WRB, Tag.CC, Tag.TO, Tag.EX}
)
"""Parts of speech whose words are few and known."""


def find_tag(penn_name: str) -> Tag | None:
    """Return the tag of this name in the Penn Treebank, None if no token can have it."""
    return _PENN_NAMES.get(penn_name) or Tag.__members__.get(penn_name)


def make_tag_mask(tags: Iterable[Tag]) -> NDArray[np.bool_]:
    """Return an array that says of each tag whether it is one of these, shape (64,): ``mask[array_of_tags]``."""
    mask = np.zeros(64, dtype=np.bool_)
    mask[list(tags)] = True
    return mask
