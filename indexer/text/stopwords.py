"""Function words: never at the edge of a phrase. Lemmas as ``indexer.text.lemmatizer`` gives them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ENGLISH = frozenset(
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

COMMON_SHARE = 0.4
"""Where a language has no list: a word of more than this share of the documents is a function word."""


def stop_words(
    words: list[str], document_frequency: NDArray[np.int32], documents: int, language: str
) -> NDArray[np.bool_]:
    """Which of the words are function words, shape (words,)."""
    if language == "en":
        return np.fromiter((word in ENGLISH for word in words), dtype=np.bool_, count=len(words))
    return document_frequency > COMMON_SHARE * max(documents, 50)
