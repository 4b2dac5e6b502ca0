"""The lexicon and the contextual rules of Brill's tagger, as files of the package.

``deploy/make_tag_lexicon.py`` writes them. In ``lexicon.txt.gz``, each line is a tag, ``+`` if the words may be verbs
too, and the words. In ``rules.jsonl``, each line is a rule ``[from, to, contexts]``: a word of tag ``from`` gets the
tag ``to`` where all conditions of one of the contexts hold. A condition ``[offset, kind, value]`` is on the ``tag`` or
the ``word`` of the token ``offset`` places after it. Rules are applied in order.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from indexer.errors import BadInput
from indexer.syntax.tags import Tag

DATA_FOLDER = Path(__file__).resolve().parent / "data"
LEXICON_FILE, RULES_FILE, PROVENANCE_FILE = "lexicon.txt.gz", "rules.jsonl", "provenance.json"
_VERB_SIGN = "+"


class LexiconEntry(NamedTuple):
    """What the lexicon says of a word."""

    tag: Tag
    """Its most frequent tag."""
    is_verb: bool
    """Whether it may be a verb, too: the lexicon has other forms of such a verb."""


class Condition(NamedTuple):
    """A condition on a token near the one that a rule changes: it has this tag, or is this word."""

    offset: int
    value: Tag | str


class ContextualRule(NamedTuple):
    """A rule that changes a tag by the tokens around it."""

    source: Tag | None
    """The tag that it changes; None for any."""
    target: Tag
    contexts: tuple[tuple[Condition, ...], ...]
    """It applies where all conditions of one of these hold."""


Lexicon = Mapping[str, LexiconEntry]


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Return the lexicon of the package, read once per process."""
    return read_lexicon(DATA_FOLDER)


@lru_cache(maxsize=1)
def load_rules() -> tuple[ContextualRule, ...]:
    """Return the contextual rules of the package, read once per process."""
    return tuple(read_rules(DATA_FOLDER))


def write_lexicon(folder: Path, lexicon: Lexicon) -> None:
    """Write the lexicon to a folder; the same words give the same bytes."""
    groups: dict[str, list[str]] = defaultdict(list)
    for word, (tag, is_verb) in lexicon.items():
        groups[tag.name + _VERB_SIGN * is_verb].append(word)
    lines = [" ".join([name, *sorted(words)]) for name, words in sorted(groups.items())]
    (folder / LEXICON_FILE).write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def read_lexicon(folder: Path) -> Lexicon:
    """Read the lexicon of a folder. Raises BadInput if its file is missing or is none."""
    lexicon: dict[str, LexiconEntry] = {}
    try:
        for line in gzip.decompress((folder / LEXICON_FILE).read_bytes()).decode().split("\n"):
            name, *words = line.split(" ")
            entry = LexiconEntry(Tag[name.removesuffix(_VERB_SIGN)], name.endswith(_VERB_SIGN))
            lexicon |= dict.fromkeys(words, entry)
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise BadInput(f"no lexicon of tags in {folder}: {error}", fix="install the package again") from error
    return lexicon


def write_rules(folder: Path, rules: Iterable[ContextualRule]) -> None:
    """Write the rules to a folder, one a line."""
    lines = [json.dumps(_encode_rule(rule), ensure_ascii=False) for rule in rules]
    (folder / RULES_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _encode_rule(rule: ContextualRule) -> list[object]:
    contexts = [
        [
            [offset, "tag", value.name] if isinstance(value, Tag) else [offset, "word", value]
            for offset, value in context
        ]
        for context in rule.contexts
    ]
    return [rule.source.name if rule.source else None, rule.target.name, contexts]


def read_rules(folder: Path) -> list[ContextualRule]:
    """Read the rules of a folder. Raises BadInput if their file is missing or has something else."""
    try:
        lines = (folder / RULES_FILE).read_text(encoding="utf-8").splitlines()
        return [_decode_rule(*json.loads(line)) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"no rules for tags in {folder}: {error}", fix="install the package again") from error


def _decode_rule(source: str | None, target: str, contexts: Sequence[Sequence[tuple[int, str, str]]]) -> ContextualRule:
    decoded = tuple(
        tuple(Condition(offset, Tag[value] if kind == "tag" else value) for offset, kind, value in context)
        for context in contexts
    )
    return ContextualRule(Tag[source] if source else None, Tag[target], decoded)
