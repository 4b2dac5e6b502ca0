"""Groups of English words that grammar treats alike, in lower case, and the forms of a word."""

from __future__ import annotations


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


QUANTIFIERS = _split(
    """
    able above additional aforementioned another below certain different due enough entire few fewer following
    foregoing former further last latter least less likely many more most much multiple new next numerous other only own
    particular previous recent same several such unlikely various very whole
    cl cm dl gb ghz hz kb kg khz km lb lbs mb mg mhz ml mm oz pct pkg tb tbs tbsp tsp
    """
)
"""Adjectives that say which or how many, and units: no part of the name of a thing, unless written with a capital."""

NAME_PARTICLES = _split("and at da de del della den der di do dos du for la le of the van von zu zur")
"""Words in lower case within a name: Bank of Japan, Food and Drug Administration."""

AUXILIARIES = _split("am are be been being did do does gets get got had has have having is was were")
"""Verbs that a participle after them belongs to: "has proposed", "is being tested"."""

OBJECT_PARTICIPLES = _split(
    """
    achieving acting allowing applying based being causing combining compared comparing concerning considering
    containing covering depending employing enabling excluding exploiting facing following getting given giving having
    helping holding improving including indicating introducing involving keeping leading letting leveraging obtaining
    offering outperforming producing proposing providing putting raising reaching receiving reducing regarding
    representing requiring saying seeking selling showing suggesting taking telling trying using utilizing wanting
    """
)
"""Participles that a noun after them is the object of, not their noun: "using neural networks"."""

UNCHANGED_PASTS = _split(
    """
    beat become bet bid broadcast burst bust cast come cost cut fit hit hurt knit let offset overcome preset put quit
    read reset rid run set shed shut slit split spread thrust upset wed
    """
)
"""Verbs whose past form or participle is that of the present."""

RELATIVES = _split("that what whatever which whichever")
"""Words that are a determiner or begin a relative clause."""

ADJECTIVE_ADVERBS = _split(
    """
    daily double early far fast hard just last late likely little long monthly much next only outside overnight overseas
    prior quarterly right second straight weekly well yearly
    """
)
"""Adverbs that are adjectives, too."""

MASS_NOUNS = _split("data media news")
"""Nouns that a plural is written like but that are mostly one thing: after "data", "sample" is a noun. So are words in
-ics."""

NUMBER_WORDS = _split("bln bn mln mn tn trn")
"""Short forms of million and the like, as in newswire."""

ADVERBS = _split(
    """
    a.m a.m. cf cf. e.g e.g. eg etc i.e i.e. ie p.m p.m. s.t s.t. today tomorrow tonight vs w.r.t w.r.t. yesterday
    """
)
"""Words that are no part of a noun phrase, although the lexicon has some of them as nouns."""

ADJECTIVE_NOUNS = _split("chief crude executive first light official oil right secondary third")
"""Nouns that are adjectives, too, besides those with the ending of an adjective."""


def list_singulars(word: str) -> list[str]:
    """Return the words that this one may be the plural, or the third person, of."""
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4:
        return []
    singulars = [word[:-1]]
    if word.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        singulars.append(word[:-2])
    if word.endswith("ies"):
        singulars.append(word[:-3] + "y")
    return singulars
