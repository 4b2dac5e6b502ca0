"""Lemmatize words, once per distinct spelling, with simplemma and some rules for what its dictionaries lack.

The lemma of a word does not depend on the case it is written in: readers type ``aws`` and ``netzwerk``, documents have
``AWS`` and ``Netzwerk``. It is the lemma of the lower-case spelling, unless a table of the corpus says otherwise
(``indexer.mining.lemma_table``): where documents mostly write ``AWS``, it is the lemma of that spelling.

The rules for a spelling, in order: Unicode is composed and possessives are cut (``Alzheimer's`` -> ``alzheimer``);
words with a digit, an underscore or a dot are only lower-cased (``os.path.join``); an acronym is not an ordinary word
(``AIDS`` stays, ``LLMs`` -> ``llm``, ``ResNets`` -> ``resnet``); everything else goes through simplemma.
A lemma is lower case and has no white space.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from indexer.errors import BadSetting

_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_CODE_LIKE = re.compile(r"[\d_.+#]")
_ACRONYM = re.compile(r"[A-Z]{2,}s?")
_CAMEL = re.compile(r"[A-Za-z][a-z]*[A-Z][A-Za-z]*")
_REGULAR_PLURAL = re.compile(r"[a-z]{4,}[^\W\d_aeiousSAEIOU]s")
_INVISIBLE = str.maketrans({"\u00ad": None, "\u200c": None, "\u200d": None, "’": "'"})
_HYPHENS = dict.fromkeys(map(ord, "-\u2010\u2011\u2013\n"))
_MAX_CACHED_WORDS = 250_000
"""Words whose lemmas are kept, in each process that analyses texts: about 50 MB."""
NO_TABLE: Mapping[str, str] = MappingProxyType({})


class Lemmatizer(dict[str, str]):
    """A dict of word -> lemma that computes missing entries: ``lemmatizer[word]``.

    Raises BadSetting if ``language`` is not a language code.
    """

    def __init__(self, language: str = "en", table: Mapping[str, str] | None = NO_TABLE) -> None:
        """``table``: case-folded word -> lemma, for words whose lemma is not that of their lower-case spelling.

        A word with a hyphen in the table (``wi-fi``) is one token; a word whose entry has a space (``multitask``,
        ``multi task``) is two.
        Without any table (None), the lemma of a word is that of the spelling at hand, as in indexes built before
        there were tables.
        """
        super().__init__()
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z]+)?", language):
            raise BadSetting(f"{language!r} is not a language code", fix="give a code like en, de or fr")
        self.language = language
        self.joined_words: frozenset[str]
        """Case-folded words with a hyphen that are one token."""
        self.split_words: dict[str, int]
        """Case-folded words that are two tokens -> letters of the first."""
        self.use_table(table)
        self.note = ""
        """Warning for the user when the language has no lemmatizer, otherwise empty."""
        if language not in lemmatized_languages():
            self.note = f"no lemmatiser for {language!r}: words are lower-cased only"

    def use_table(self, table: Mapping[str, str] | None) -> None:
        """Use another table from now on; lemmas that it does not change stay cached."""
        self._table = table
        entries = (table or NO_TABLE).items()
        self.joined_words = frozenset(word for word, _ in entries if "-" in word)
        self.split_words = {word: lemma.index(" ") for word, lemma in entries if " " in lemma}
        for word in [word for word in self if table is None or clean_word(word).casefold() in table]:
            del self[word]

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        self[word] = lemma = self._find_lemma(clean_word(word))
        return lemma

    def _find_lemma(self, word: str) -> str:
        if self._table is None:
            return self._lemmatize_spelling(word)
        lemma = self._table.get(word.casefold(), " ")
        if " " not in lemma:
            return lemma
        lower = word.lower()
        return self.lemmatize_spelling(word) if lower == word else self[lower]

    def get_split(self, word: str) -> int:
        """Return after how many characters a word is split into two tokens, 0 if it is one token."""
        folded = word.casefold()
        return self.split_words.get(folded, 0) if len(folded) == len(word) else 0

    def lemmatize_spelling(self, word: str) -> str:
        """Return the lemma of a word that ``clean_word`` has returned, by its upper and lower case."""
        # casefold: STRASSE is the upper case of Straße; hyphens: simplemma's lemma of "wifi" is "wi-fi"
        return self._lemmatize_spelling(word).casefold().replace("-", "") or word.casefold()

    def _lemmatize_spelling(self, word: str) -> str:
        if self.note or len(word) < 2 or _CODE_LIKE.search(word):
            return word.lower()
        if self.language == "en":
            if _ACRONYM.fullmatch(word):
                return (word[:-1] if len(word) > 2 and word.endswith("s") else word).lower()
            if _CAMEL.fullmatch(word):
                return (word[:-1] if re.search("[^aious]s$", word) else word).lower()
        elif word.isupper():
            return word.lower()
        return "".join(_lemmatize_word(word, self.language).lower().split())

    def is_in_dictionary(self, word: str) -> bool:
        """Return whether simplemma's dictionary of the language has the word."""
        from simplemma import is_known

        return not self.note and is_known(word, self.language)


def clean_word(word: str) -> str:
    """Return a word of a text with its Unicode composed, and without hyphens and a possessive ending."""
    if not word.isalnum():
        word = word.translate(_HYPHENS)
    if not word.isascii():
        word = unicodedata.normalize("NFC", word.translate(_INVISIBLE)) or word
    if "'" in word or "." in word:
        word = _POSSESSIVE.sub("", word).rstrip(".'") or word
    return word


def _lemmatize_word(word: str, language: str) -> str:
    """Return simplemma's lemma, applied twice to gerunds so that ``embeddings``, too, becomes ``embed``."""
    from simplemma import lemmatize

    lemma = lemmatize(word, language)
    if lemma != word and lemma.endswith("ing"):
        lemma = lemmatize(lemma, language)
    if language == "en" and lemma == word and word.endswith("s"):
        return _strip_plural(word, language)
    return str(lemma)


def _strip_plural(word: str, language: str) -> str:
    """Return the singular of a plural that the dictionary lacks (``autoencoders``), not of a name (``Reuters``)."""
    from simplemma import is_known

    if not _REGULAR_PLURAL.fullmatch(word.lower()) or is_known(word, language) or is_known(word.lower(), language):
        return word
    return word[:-1] if word.islower() or is_known(word[:-1], language) else word


@lru_cache(maxsize=1)
def lemmatized_languages() -> frozenset[str]:
    """Return the codes of the languages that simplemma has a dictionary for."""
    from importlib.resources import files

    data = files("simplemma") / "strategies" / "dictionaries" / "data"
    return frozenset(entry.name.split(".")[0] for entry in data.iterdir() if ".plzma" in entry.name)
