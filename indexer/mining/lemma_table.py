"""Decide by the spellings of a corpus what a word means, whatever the case a reader or one document writes it in.

``aws`` may be a form of the verb "awe" or a product; ``led`` a verb or a lamp. The spelling that a corpus uses most
decides: its lemma is the lemma of every other spelling of the word. Spellings are counted where case carries meaning:
not in fields that are all in capitals, and a first capital counts neither at the start of a sentence nor in a title.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from indexer.text.lemmatizer import Lemmatizer, clean_word

_CAPITALISED_NOUNS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital: there, a first capital is better evidence than none."""
MAX_ACRONYM_LETTERS = 5
"""A longer word all in capitals that a dictionary has is emphasised (WARRANTIES), not an acronym."""
ORDINARY_SHARE = 0.1
"""A name whose word is written small this often (States, states) is an ordinary word as well, and inflected as one."""
MIN_ACRONYM_COUNT = 2
"""Occurrences from which the table has the plural of an acronym even if the corpus does not write it."""

Spellings = dict[str, int]
"""Spelling of a word -> occurrences that count."""


def build_lemma_table(spelling_counts: Iterable[tuple[str, int, int]], lemmatizer: Lemmatizer) -> dict[str, str]:
    """Return case-folded word -> lemma, for the words whose lemma is not that of their lower-case spelling.

    ``spelling_counts`` has each word as it is written, its occurrences where case carries meaning, and those that have
    a capital because they begin a sentence or stand in a title. ``lemmatizer`` has no table yet.
    """
    words = _group_by_word(spelling_counts, lemmatizer)
    table: dict[str, str] = {}
    acronyms: list[str] = []
    for word, spellings in words.items():
        spelling = _choose_spelling(word, spellings, lemmatizer.language)
        lower_forms = {word, *map(str.lower, spellings)}
        if spelling == word and len(lower_forms) == 1:
            continue
        lemma = lemmatizer.lemmatize_spelling(spelling)
        if any(lemmatizer[lower] != lemma for lower in lower_forms):
            table[word] = lemma
        if is_acronym_or_camel_case(spelling) and word.isalnum() and not word.endswith("s"):
            acronyms.append(word)
    for word in acronyms:
        _add_plural(table, word, words, lemmatizer)
    return table


def is_acronym_or_camel_case(spelling: str) -> bool:
    """Return whether a word has a capital after its first letter: GPU, LLMs, WiFi, iPhone."""
    return spelling[1:] != spelling[1:].lower()


def _group_by_word(spelling_counts: Iterable[tuple[str, int, int]], lemmatizer: Lemmatizer) -> dict[str, Spellings]:
    """Return case-folded word -> its spellings."""
    words: defaultdict[str, Spellings] = defaultdict(dict)
    initials: defaultdict[str, Spellings] = defaultdict(dict)
    for surface, count, initial_count in spelling_counts:
        spelling = clean_word(surface)
        word = spelling.casefold()
        if len(spelling) > MAX_ACRONYM_LETTERS and spelling.isupper() and lemmatizer.is_in_dictionary(word):
            count = 0
        words[word][spelling] = words[word].get(spelling, 0) + count
        if initial_count and lemmatizer.language in _CAPITALISED_NOUNS:
            initials[word][spelling] = initials[word].get(spelling, 0) + initial_count
    for word, spellings in initials.items():
        if not any(words[word].values()):
            words[word] |= spellings
    return words


def _choose_spelling(word: str, spellings: Spellings, language: str) -> str:
    """Return the spelling that decides the lemma of a case-folded word: the most frequent, or the word itself."""
    spelling, count = max(spellings.items(), key=lambda item: (item[1], item[0]))
    if language not in _CAPITALISED_NOUNS and not is_acronym_or_camel_case(spelling):
        is_ordinary = spellings.get(word, 0) >= ORDINARY_SHARE * sum(spellings.values())
        return word if is_ordinary else spelling
    return spelling if count else word


def _add_plural(table: dict[str, str], word: str, words: Mapping[str, Spellings], lemmatizer: Lemmatizer) -> None:
    """Give the plural of an acronym or a camel-case word its lemma: simplemma's dictionary has few of them (``gpus``).

    HTTPS is no plural of HTTP: where the corpus writes its last letter as a capital, the word is one of its own.
    """
    plural = word + "s"
    spellings = words.get(plural, {})
    if not spellings and sum(words[word].values()) < MIN_ACRONYM_COUNT:
        return
    if lemmatizer.is_in_dictionary(plural) or any(spelling.endswith("S") for spelling in spellings):
        return
    lemma = table.get(word) or lemmatizer[word]
    if lemmatizer[plural] == lemma:
        table.pop(plural, None)
    else:
        table[plural] = lemma
