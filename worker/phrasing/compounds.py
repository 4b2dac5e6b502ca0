"""The compound that a phrase is a part of: "gradient descent" for "descent", "hair cell" for "hair".

It is recognised by repetition: a phrase that nearly always has the same neighbour is a part of something longer. A
corpus may be too small for the compound to be mined, while the text at hand repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil

from worker.explain.text.ngram_counts import join_padded_tokens

MAX_COMPOUND_WORDS = 5
"""Longest compound in words; a longer one is a repeated sentence."""
_MIN_MENTIONS = 2
"""A neighbour seen only once may be any word."""
_MIN_SHARE = 2 / 3
"""Share of a phrase's mentions that must be part of the compound."""
_MAX_MENTIONS = 60
"""Maximum mentions examined in a text."""

LINE_END = "\n"
"""The token at the end of a line in padded tokens."""

Neighbours = tuple[str, str]
"""The token before and the token after a mention."""


def find_compound(phrase: str, padded_texts: Sequence[str], may_be_part: Callable[[str], bool]) -> str | None:
    """Return the lemmas of the compound that the phrase is a part of in every text, or None.

    ``padded_texts``: the texts that contain the phrase, as returned by ``pad_tokens_for_compounds``. ``may_be_part``:
    returns whether a word may be a part of a compound.
    """
    mentions = [list(_iter_neighbours(phrase, text)) for text in padded_texts]
    total = sum(map(len, mentions))
    if total < _MIN_MENTIONS:
        return None
    min_count = max(_MIN_MENTIONS, ceil(_MIN_SHARE * total))
    compound = phrase
    while compound.count(" ") < MAX_COMPOUND_WORDS:
        before = _find_common_word([[left for left, _ in in_text] for in_text in mentions], min_count, may_be_part)
        after = _find_common_word([[right for _, right in in_text] for in_text in mentions], min_count, may_be_part)
        if not before and not after:
            return compound if compound != phrase and _is_repeated(mentions) else None
        compound = f"{compound} {after}" if after else f"{before} {compound}"
        mentions = [list(_iter_neighbours(compound, text)) for text in padded_texts]
    return None


def _is_repeated(mentions: Sequence[Sequence[Neighbours]]) -> bool:
    """Return whether one text repeats the compound or two texts use it in different contexts, not in a copied one."""
    contexts = {neighbours for in_text in mentions for neighbours in in_text}
    return max(map(len, mentions)) >= _MIN_MENTIONS or len(contexts) > 1


def pad_tokens_for_compounds(tokens: str) -> str:
    """Return the tokens of a text as ``find_compound`` reads them: padded, with a line end on either side."""
    return join_padded_tokens(("", tokens, ""))


def _iter_neighbours(phrase: str, text: str) -> Iterator[Neighbours]:
    padded = f" {phrase.replace(' ', '  ')} "
    start = text.find(padded)
    for _ in range(_MAX_MENTIONS):
        if start < 0:
            break
        end = start + len(padded)
        yield text[text.rfind(" ", 0, start - 1) + 1 : start - 1], text[end + 1 : text.find(" ", end + 1)]
        start = text.find(padded, end)


def _find_common_word(
    words_by_text: Sequence[Sequence[str]], min_count: int, may_be_part: Callable[[str], bool]
) -> str:
    """Return the most frequent word if it is in every text, frequent enough and may be a part, else an empty string."""
    all_words = [word for words in words_by_text for word in words]
    word = max(dict.fromkeys(all_words), key=all_words.count, default="")
    is_common = all_words.count(word) >= min_count and all(word in words for words in words_by_text)
    return word if is_common and word != LINE_END and may_be_part(word) else ""
