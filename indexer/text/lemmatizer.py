"""The lemma of a word, once per distinct spelling.

The rules, in order: Unicode composed and possessives cut (``Alzheimer's`` -> ``alzheimer``); words with a
digit, an underscore or a dot are only lower-cased (``os.path.join``); an acronym is not an ordinary word
(``AIDS`` stays, ``LLMs`` -> ``llm``, ``ResNets`` -> ``resnet``); everything else goes through simplemma.
The result is lower case and holds no white space.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from indexer.errors import BadSetting

_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_PLAIN = re.compile(r"[\d_.+#]")
_ACRONYM = re.compile(r"[A-Z]{2,}s?")
_CAMEL = re.compile(r"[A-Za-z][a-z]*[A-Z][A-Za-z]*")
_PLURAL = re.compile(r"[a-z]{4,}[^\W\d_aeiousSAEIOU]s")
_INVISIBLE = str.maketrans({"\u00ad": None, "\u200c": None, "\u200d": None, "’": "'"})
_CACHE_LIMIT = 2_000_000


class Lemmas(dict[str, str]):
    """Word -> lemma, filled as words are met: ``lemmas[word]``."""

    def __init__(self, language: str = "en") -> None:
        super().__init__()
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z]+)?", language):
            raise BadSetting(f"{language!r} is no language code", fix="give a code like en, de or fr")
        self.language = language
        self.note = ""
        """Says so when the language has no lemmatiser."""
        if language not in lemmatised_languages():
            self.note = f"no lemmatiser for {language!r}: words are lower-cased only"

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHE_LIMIT:
            self.clear()
        self[word] = lemma = self._lemma(word)
        return lemma

    def _lemma(self, word: str) -> str:
        if not word.isascii():
            word = unicodedata.normalize("NFC", word.translate(_INVISIBLE)) or word
        if "'" in word or "." in word:
            word = _POSSESSIVE.sub("", word).rstrip(".'") or word
        if self.note or len(word) < 2 or _PLAIN.search(word):
            return word.lower()
        if self.language == "en":
            if _ACRONYM.fullmatch(word):
                return (word[:-1] if len(word) > 2 and word.endswith("s") else word).lower()
            if _CAMEL.fullmatch(word):
                return (word[:-1] if re.search("[^aious]s$", word) else word).lower()
        elif word.isupper():
            return word.lower()
        return "".join(_lemmatise(word, self.language).lower().split())


def _lemmatise(word: str, language: str) -> str:
    """Gerunds once more, so that ``embeddings`` and ``embedding`` meet in ``embed``."""
    from simplemma import lemmatize

    lemma = lemmatize(word, language)
    if lemma != word and lemma.endswith("ing"):
        lemma = lemmatize(lemma, language)
    if language == "en" and lemma == word and word.endswith("s"):
        return _singular(word, language)
    return str(lemma)


def _singular(word: str, language: str) -> str:
    """The singular of a plural the dictionary does not know (``autoencoders``; not of a name, ``Reuters``)."""
    from simplemma import is_known

    if not _PLURAL.fullmatch(word.lower()) or is_known(word, language) or is_known(word.lower(), language):
        return word
    return word[:-1] if word.islower() or is_known(word[:-1], language) else word


@lru_cache(maxsize=1)
def lemmatised_languages() -> frozenset[str]:
    """Codes of the languages that have a lemmatiser."""
    from importlib.resources import files

    data = files("simplemma") / "strategies" / "dictionaries" / "data"
    return frozenset(entry.name.split(".")[0] for entry in data.iterdir() if ".plzma" in entry.name)
