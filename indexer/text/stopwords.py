"""Function words, which no phrase begins or ends with, as the lemmas of ``indexer.text.lemmatizer``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ENGLISH_STOPWORDS = frozenset(
    """
    a about above according across after afterwards again against ago albeit all almost along alongside already also
    although always am amid among amongst an and another any anybody anyone anything anywhere apart are aren't around
    as aside at away back be became because become been before beforehand behind being below beneath beside besides
    between beyond both but by can can't cannot could couldn't despite did didn't do does doesn't doing don done
    don't down due during each e.g eg either else elsewhere enough etc even ever every everybody everyone everything
    everywhere except few first for from further furthermore had hadn't has hasn't have haven't having he hence her
    here hereby herein hers herself him himself his how however i i.e ie if in indeed inside instead into is isn't it
    its itself just kind last latter least less let like likewise ll lot many may maybe me meanwhile might mine more
    moreover most mostly much must my myself namely near nearly neither never nevertheless next no nobody non none
    nonetheless nor not nothing now nowhere o of off often on once one only onto or other others otherwise ought our
    ours ourselves out outside over overall own per perhaps quite rather re really same second several shall shan't
    she should shouldn't since so some somebody somehow someone something sometimes somewhere soon still such than
    that the their theirs them themselves then thence there thereby therefore therein these they third this those
    though through throughout thus to together too toward towards twice under unless unlike until up upon us use using
    ve versus very via vs was wasn't we well were weren't what whatever when whenever where whereas whereby wherein
    whereupon wherever whether which whichever while whilst who whoever whole whom whose why will with within without
    won't would wouldn't yes yet you your yours yourself yourselves that's it's there's let's we've
    """.split()
)

MIN_STOPWORD_SHARE = 0.4
"""In a language without a list, a word in more than this share of the documents counts as a function word."""


def mark_stopwords(
    words: list[str], document_frequency: NDArray[np.int32], document_count: int, language: str
) -> NDArray[np.bool_]:
    """Return a mask of the words that are function words, shape (words,)."""
    if language == "en":
        return np.fromiter((word in ENGLISH_STOPWORDS for word in words), dtype=np.bool_, count=len(words))
    return document_frequency > MIN_STOPWORD_SHARE * max(document_count, 50)
