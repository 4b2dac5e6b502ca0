"""Making the lexicon of the tagger: which words and rules it takes from the wheel, and in which form."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from deploy.make_tag_lexicon import (
    LEXICON_MEMBER,
    RULES_MEMBER,
    parse_lexicon,
    parse_rules,
    read_wheel,
    write_files,
)
from indexer.errors import BadInput
from indexer.syntax.lexicon import LEXICON_FILE, PROVENANCE_FILE, RULES_FILE, read_lexicon, read_rules
from indexer.syntax.tags import Tag

LEXICON = """;;;   a comment

fund NN
funded VBN
funds NNS
half NN|DT
e-mail NN
won't MD
#fail NN
$200 CD
`` ``
na TO
b IN
I PRP
well RB
welling VBG
"""
RULES = """;;;   a comment
NN VB PREVTAG TO
VBD VBN PREV1OR2WD have
VB NN PREV1OR2OR3TAG DT
RB IN RBIGRAM though ,
JJ NNP LBIGRAM STAART U.S.
* IN CURWD with
VBP VB PREV1OR2WD n't
POS '' NEXT1OR2TAG ''
NN PRP PREVWD are mine
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "small.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(LEXICON_MEMBER, LEXICON)
        archive.writestr(RULES_MEMBER, RULES)
    return path


def test_files_of_a_small_wheel(wheel: Path, tmp_path: Path) -> None:
    lexicon, rules = write_files(wheel, tmp_path / "data", hashlib.sha256(wheel.read_bytes()).hexdigest())
    folder = tmp_path / "data"
    assert gzip.decompress((folder / LEXICON_FILE).read_bytes()).decode().split("\n") == [
        "MD won't",
        "NN e-mail half",
        "NN+ fund",
        "NNS+ funds",
        "PRP I",
        "RB well",
        "VBG welling",
        "VBN funded",
    ]
    assert (folder / RULES_FILE).read_text().splitlines() == [
        '["NN", "VB", [[[-1, "tag", "TO"]]]]',
        '["VBD", "VBN", [[[-1, "word", "have"]], [[-2, "word", "have"]]]]',
        '["VB", "NN", [[[-1, "tag", "DT"]], [[-2, "tag", "DT"]], [[-3, "tag", "DT"]]]]',
        '["RB", "IN", [[[0, "word", "though"], [1, "tag", "COMMA"]]]]',
        '["JJ", "NNP", [[[-1, "tag", "START"], [0, "word", "U.S."]]]]',
        '[null, "IN", [[[0, "word", "with"]]]]',
    ]
    assert read_lexicon(folder) == lexicon
    assert read_rules(folder) == rules
    provenance = json.loads((folder / PROVENANCE_FILE).read_text())
    assert (provenance["words"], provenance["rules"]) == (9, 6)


def test_a_word_is_a_verb_if_its_forms_are_those_of_one() -> None:
    lexicon = parse_lexicon("stop NN\nstopped VBD\ntry NN\ntried VBD\nuse NN\nusing VBG\ncity NN\nIng NNP\nIngs VBG")
    assert {word for word, entry in lexicon.items() if entry.is_verb} == {"stop", "try", "use"}


def test_rules_keep_their_order() -> None:
    assert [rule.target for rule in parse_rules(RULES)] == [Tag.VB, Tag.VBN, Tag.NN, Tag.IN, Tag.NNP, Tag.IN]


def test_another_file_than_the_pinned_wheel_is_refused(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has the sha256"):
        read_wheel(wheel)
    with pytest.raises(BadInput, match="cannot be read"):
        read_wheel(tmp_path / "missing.whl")
