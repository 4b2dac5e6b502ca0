"""The files of the lexicon and of the rules: what is read is what was written, and damage is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexer.errors import BadInput
from indexer.syntax.lexicon import (
    DATA_FOLDER,
    LEXICON_FILE,
    PROVENANCE_FILE,
    RULES_FILE,
    load_lexicon,
    load_rules,
    read_lexicon,
    read_rules,
    write_lexicon,
    write_rules,
)
from indexer.syntax.tags import Tag, find_tag


def test_files_of_the_package_are_what_their_content_is_written_as(tmp_path: Path) -> None:
    write_lexicon(tmp_path, load_lexicon())
    write_rules(tmp_path, load_rules())
    assert read_lexicon(tmp_path) == load_lexicon()
    assert (tmp_path / RULES_FILE).read_bytes() == (DATA_FOLDER / RULES_FILE).read_bytes()


def test_the_provenance_has_the_figures_of_the_files() -> None:
    provenance = json.loads((DATA_FOLDER / PROVENANCE_FILE).read_text())
    assert provenance["words"] == len(load_lexicon()) > 90_000
    assert provenance["rules"] == len(load_rules()) > 250
    assert (DATA_FOLDER / LEXICON_FILE).stat().st_size < 450_000


def test_the_notice_names_every_licence_of_the_provenance() -> None:
    notice = (DATA_FOLDER / "NOTICE").read_text()
    for words in ("Massachusetts Institute of Technology", "Creative Commons Attribution 3.0", "Steven Loria"):
        assert words in notice


def test_verbs_are_known_by_their_other_forms() -> None:
    lexicon = load_lexicon()
    assert [lexicon[word].is_verb for word in ("fund", "funds", "government", "half")] == [True, True, False, False]


def test_missing_and_damaged_files_are_reported(tmp_path: Path) -> None:
    for read in (read_lexicon, read_rules):
        with pytest.raises(BadInput, match=r"no (lexicon|rules)"):
            read(tmp_path)
    (tmp_path / LEXICON_FILE).write_bytes((DATA_FOLDER / LEXICON_FILE).read_bytes()[:1000])
    (tmp_path / RULES_FILE).write_text('["NN", "XX", []]\n')
    for read in (read_lexicon, read_rules):
        with pytest.raises(BadInput, match=r"no (lexicon|rules)"):
            read(tmp_path)


def test_tags_are_found_by_their_names_in_the_treebank() -> None:
    assert find_tag("PRP$") is Tag.PRP_S
    assert find_tag("STAART") is Tag.START
    assert find_tag("``") is None
