"""What a word may be by its form: the tagger's rules know only the tags around it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

from indexer.syntax.lexicon import Lexicon, LexiconEntry
from indexer.syntax.tags import CLOSED_CLASSES, Tag, make_tag_mask
from indexer.syntax.word_groups import (
    ADJECTIVE_ADVERBS,
    ADJECTIVE_NOUNS,
    AUXILIARIES,
    RELATIVES,
    UNCHANGED_PASTS,
    list_singulars,
)


class Form(IntFlag):
    """What a word may be by its form: a rule gives it a tag only then (``FORM_OF_TAG``)."""

    NOUN = 1
    PLURAL = 2
    NAME = 4
    ADJECTIVE = 8
    """Or an adverb; of an adjective or an adverb, that it may be the other one, too."""
    VERB = 16
    VERB_S = 32
    PAST = 64
    ING = 128
    RELATIVE = 256


FORM_OF_TAG: Mapping[Tag, Form] = {
    Tag.NN: Form.NOUN,
    Tag.NNS: Form.PLURAL,
    Tag.NNP: Form.NAME,
    Tag.NNPS: Form.NAME,
    Tag.JJ: Form.ADJECTIVE,
    Tag.JJR: Form.ADJECTIVE,
    Tag.RB: Form.ADJECTIVE,
    Tag.VB: Form.VERB,
    Tag.VBP: Form.VERB,
    Tag.VBZ: Form.VERB_S,
    Tag.VBD: Form.PAST,
    Tag.VBN: Form.PAST,
    Tag.VBG: Form.ING,
    Tag.WDT: Form.RELATIVE,
    Tag.DT: Form.RELATIVE,
}
"""The form that a word needs to get a tag; the other tags are given to words of closed classes only, by their rules."""

# Plain integers and lists: operations on members of enumerations would take most of the time.
_NOUN, _PLURAL, _NAME, _ADJECTIVE, _VERB, _VERB_S, _PAST, _ING, _RELATIVE = (form.value for form in Form)
_IS_SINGULAR = make_tag_mask((Tag.NN, Tag.NNP)).tolist()
_IS_ADJECTIVE_OR_ADVERB = make_tag_mask((Tag.JJ, Tag.RB)).tolist()
_HAS_FIXED_FORM = make_tag_mask({*CLOSED_CLASSES, Tag.CD, Tag.SYM}).tolist()
_IS_PAST = make_tag_mask((Tag.VBD, Tag.VBN)).tolist()
_IS_PLURAL = make_tag_mask((Tag.NNS, Tag.NNPS)).tolist()
_IS_VERB_BASE = make_tag_mask((Tag.VB, Tag.VBP)).tolist()
_ADJECTIVE_ENDINGS = ("ous", "ful", "ible", "able", "less", "ish", "ical", "ial")
_ADJECTIVE_NOUN_ENDINGS = ("al", "an", "ary", "ern", "ese", "ic", "ish", "ive", "th")
"""Of nouns and names: a criminal, German, Japanese, South."""
_VERB_ENDINGS = ("ize", "ise", "ify")
_FORMS_OF_IRREGULARS: Mapping[str, int] = {
    **dict.fromkeys(RELATIVES, _RELATIVE),
    **dict.fromkeys(AUXILIARIES, _VERB | _VERB_S | _PAST),
    "being": _ING,
    "having": _ING,
}
_MAY_BE_NOUN = [tag not in (Tag.NNS, Tag.VBZ, Tag.RB) for tag in range(64)]


def find_forms(lexicon: Lexicon, entry: LexiconEntry, word: str, lower: str) -> int:
    """Return the ``Form`` flags of a word: by its ending, and by what the lexicon knows of its other forms."""
    tag, is_verb = entry
    if lower in _FORMS_OF_IRREGULARS:
        return _FORMS_OF_IRREGULARS[lower]
    if _HAS_FIXED_FORM[tag]:
        return _ADJECTIVE if word == lower or tag == Tag.CD else _ADJECTIVE | _NAME
    forms = 0 if word == lower else _NAME
    ends_in_s = lower.endswith("s") and not lower.endswith("ss")
    is_ing = lower.endswith("ing") and len(lower) > 4
    is_unchanged = lower in UNCHANGED_PASTS
    is_past = lower.endswith("ed") or _IS_PAST[tag] or is_unchanged
    if _may_be_adjective(tag, lower):
        forms |= _ADJECTIVE
    if _IS_PLURAL[tag] or (ends_in_s and not (tag == Tag.VBZ and _is_form_of_verb_only(lexicon, lower))):
        forms |= _PLURAL
    if _may_be_noun(lexicon, tag, lower):
        forms |= _NOUN
    if _IS_VERB_BASE[tag] or (is_verb and (is_unchanged or not (ends_in_s or is_past or is_ing or tag == Tag.NNS))):
        forms |= _VERB
    if tag == Tag.VBZ or (is_verb and ends_in_s):
        forms |= _VERB_S
    if is_past:
        forms |= _PAST
    return forms | _ING if is_ing else forms


def _may_be_adjective(tag: int, lower: str) -> bool:
    """Return whether a word may be an adjective or an adverb besides what its tag says."""
    if _IS_ADJECTIVE_OR_ADVERB[tag]:
        return lower in ADJECTIVE_ADVERBS
    return not _IS_SINGULAR[tag] or lower in ADJECTIVE_NOUNS or lower.endswith(_ADJECTIVE_NOUN_ENDINGS)


def _may_be_noun(lexicon: Lexicon, tag: int, lower: str) -> bool:
    if tag == Tag.JJ:
        return not lower.endswith(_ADJECTIVE_ENDINGS)
    if _IS_VERB_BASE[tag]:  # "increases" is known as a noun, "illustrates" is not
        plural = lexicon.get(lower + "s")
        return not lower.endswith(_VERB_ENDINGS) if plural is None else plural.tag == Tag.NNS
    return _MAY_BE_NOUN[tag]


def _is_form_of_verb_only(lexicon: Lexicon, lower: str) -> bool:
    """Return whether a word in -s is a form of a word that the lexicon has as a verb: "consists"."""
    entries = [entry for singular in list_singulars(lower) if (entry := lexicon.get(singular))]
    return any(_IS_VERB_BASE[entry.tag] for entry in entries)
