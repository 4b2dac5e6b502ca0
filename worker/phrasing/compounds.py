"""The compound that a phrase is a piece of: "descent" in texts that speak of gradient descent, "hair" of hair cells.

Told by repetition: what nearly always has the same neighbour is half of something. A corpus may be too small to have
mined the whole, but the text at hand says it again and again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import ceil

from worker.explain.text.ngram_counts import padded

LONGEST = 5
"""Words of a compound; what goes on is a sentence that is said again."""
_TWICE = 2
"""Seen once, a neighbour may be any word."""
_USUAL = 2 / 3
"""Of the mentions of a phrase that stand in the compound."""
_MENTIONS = 60
"""Looked at in a text."""

BOUNDARY = "\n"
"""As sequences have it: an end of a line."""

Neighbours = tuple[str, str]
"""The word before and the word after a mention, or a boundary."""


def compound(phrase: str, texts: Sequence[str], fits: Callable[[str], bool]) -> str | None:
    """The lemmas of the whole; None where the phrase stands by itself.

    ``texts``: tokens, each between two spaces, of the texts that hold the phrase; the whole stands in every one.
    ``fits``: whether a word may be a part of it.
    """
    mentions = [list(_neighbours(phrase, text)) for text in texts]
    total = sum(map(len, mentions))
    if total < _TWICE:
        return None
    least = max(_TWICE, ceil(_USUAL * total))
    whole = phrase
    while whole.count(" ") < LONGEST:
        before = _usual([[left for left, _ in own] for own in mentions], least, fits)
        after = _usual([[right for _, right in own] for own in mentions], least, fits)
        if not before and not after:
            return whole if whole != phrase and _said_anew(mentions) else None
        whole = f"{whole} {after}" if after else f"{before} {whole}"
        mentions = [list(_neighbours(whole, text)) for text in texts]
    return None


def _said_anew(mentions: Sequence[Sequence[Neighbours]]) -> bool:
    """Whether a text says it twice, or two texts say it in different sentences: one that is copied says it once."""
    return max(map(len, mentions)) >= _TWICE or len({around for own in mentions for around in own}) > 1


def spaced(tokens: str) -> str:
    """Tokens as ``compound`` reads them: boundaries among them, around the text, too."""
    return padded(("", tokens, ""))


def _neighbours(phrase: str, text: str) -> Iterator[Neighbours]:
    wanted = f" {phrase.replace(' ', '  ')} "
    at = text.find(wanted)
    for _ in range(_MENTIONS):
        if at < 0:
            break
        end = at + len(wanted)
        yield text[text.rfind(" ", 0, at - 1) + 1 : at - 1], text[end + 1 : text.find(" ", end + 1)]
        at = text.find(wanted, end)


def _usual(words: Sequence[Sequence[str]], least: int, fits: Callable[[str], bool]) -> str:
    """The word that stands there in every text and often enough in all, or none."""
    (word, times), *_ = Counter(word for own in words for word in own).most_common(1) or [("", 0)]
    usual = times >= least and all(word in own for own in words)
    return word if usual and word != BOUNDARY and fits(word) else ""
