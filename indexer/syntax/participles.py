"""Participles in noun phrases: which are modifiers or nouns, and which are verbs.

"The operating costs" are costs, but "using neural networks" are not networks. A tagger gives both the same tag.
"""

from __future__ import annotations

import numpy as np

from indexer.syntax.phrase_tokens import IS_PLURAL, Mask, PhraseTokens
from indexer.syntax.tags import Tag, make_tag_mask
from indexer.syntax.word_features import get_tags
from indexer.syntax.word_shapes import Shape

_IS_CLASS_WORD = make_tag_mask((Tag.NN, Tag.NNP, Tag.JJ))
_BEGINS_OBJECT = make_tag_mask((Tag.DT, Tag.PDT, Tag.PRP, Tag.PRP_S, Tag.CD, Tag.JJ, Tag.JJR, Tag.JJS))
"""A gerund between a noun and one of these is a verb: the method learning the weights."""
_DETERMINES_OBJECT = make_tag_mask((Tag.DT, Tag.PDT, Tag.PRP, Tag.PRP_S))
_TAKES_PARTICIPLE = make_tag_mask((Tag.PRP, Tag.WDT, Tag.WP, Tag.MD))


def find_gerund_nouns(tokens: PhraseTokens) -> Mask:
    """Return which gerunds may end a phrase: "machine learning", "deep learning", "self-supervised learning".

    After a name, one does only with a capital: "Reinforcement Learning", but not "Hutton acting".
    """
    follows_class_word = _IS_CLASS_WORD[tokens.previous_tags] | tokens.has_previous(tokens.is_in_chain)
    is_noun = tokens.has_tag(Tag.VBG) & follows_class_word & ~_BEGINS_OBJECT[tokens.next_tags]
    is_noun &= ~tokens.has(Shape.OBJECT_PARTICIPLE)
    return np.asarray(is_noun & (~tokens.has_previous(tokens.is_name) | tokens.has(Shape.CAPITALISED)))


def find_verbs_after_nouns(tokens: PhraseTokens) -> Mask:
    """Return which participles after a noun are verbs: "methods using networks", "the firm reported earnings".

    A gerund after a singular noun may belong to the noun after it ("machine learning methods"), but not to an adjective
    ("a robot tracing spherical curves"). What looks like a plural after a singular noun is a verb if it may be
    one and an object begins after it ("the thermometer shows the temperature").
    """
    is_verb = IS_PLURAL[tokens.previous_tags] | _BEGINS_OBJECT[tokens.next_tags] | tokens.has(Shape.OBJECT_PARTICIPLE)
    is_verb &= tokens.has_tag(Tag.VBG)
    is_verb |= tokens.has_tag(Tag.VBN)
    is_third_person = tokens.has_tag(Tag.NNS) & tokens.may_be_third_person & ~IS_PLURAL[tokens.previous_tags]
    is_verb |= is_third_person & _DETERMINES_OBJECT[tokens.next_tags]
    return np.asarray(is_verb & tokens.has_previous(tokens.is_noun) & ~tokens.is_in_chain)


def find_verbs_before_objects(tokens: PhraseTokens) -> Mask:
    """Return which participles at the beginning of a phrase have its noun as their object.

    A gerund does ("including partial indexation"), unless a word before it belongs to the noun ("the operating costs")
    or the lexicon has it as a noun ("training data"). A past participle does after "has", "is" and pronouns, with or
    without an adverb between ("has recently proposed rules"), and before a name ("a subsidiary called Irving Trust") or
    a number ("paid six cents").
    """
    is_gerund = tokens.has_tag(Tag.VBG) & (get_tags(tokens.features) == int(Tag.VBG))
    is_object_participle = tokens.has(Shape.OBJECT_PARTICIPLE)
    is_verb = is_gerund & (~tokens.is_determined | is_object_participle)
    takes = _TAKES_PARTICIPLE[tokens.tags] | tokens.has(Shape.AUXILIARY)
    takes |= tokens.has_previous(takes) & tokens.has_tag(Tag.RB)
    is_before_name = tokens.has_next(tokens.is_name) & ~tokens.is_name
    is_before_number = tokens.has_next(tokens.has_tag(Tag.CD) & ~tokens.is_in_chain)
    takes_next = (is_object_participle | is_before_name | is_before_number) & ~tokens.is_determined
    return np.asarray(is_verb | (tokens.has_tag(Tag.VBN) & (tokens.has_previous(takes) | takes_next)))


def find_past_modifiers(tokens: PhraseTokens) -> Mask:
    """Return which words tagged as past tenses must be participles, for no verb is there: "Citgo's posted price"."""
    return np.asarray(tokens.has_tag(Tag.VBD) & tokens.is_determined)
