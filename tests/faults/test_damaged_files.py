"""Single bits that change in the files of an embedded index, as on a faulty disk."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import CorruptIndex, PhraseComError
from tests.support import index_processes
from tests.support.corpora.engine_corpus import make_corpus, write_index
from tests.support.damaged_files import flipped_bit
from tests.support.faults.fault_results import IS_FULL_RUN, FaultResult, record_result

FLIPS = 500 if IS_FULL_RUN else 60


@pytest.mark.slow
def test_no_flipped_bit_goes_unnoticed(tantivy_engine: Engine) -> None:
    write_index(tantivy_engine, make_corpus(60))
    tantivy_engine.add_documents("papers", [index_processes.make_added_document("new")])
    tantivy_engine.delete_documents("papers", ["doc-0007"])
    folder = Path(tantivy_engine.address) / "papers"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    rng = random.Random(7)
    silent: list[str] = []
    for flip in range(FLIPS):
        path = files[flip % len(files)]
        bit = rng.randrange(8 * path.stat().st_size)
        with flipped_bit(path, bit, keeps_time=flip % 2 == 0):
            try:
                with open_engine(tantivy_engine.address) as engine:
                    engine.check_files("papers")
                    silent.append(f"{path.relative_to(folder)} bit {bit}")
            except PhraseComError as error:
                assert "rebuild it with: phrasecom index PATH --index papers" in error.fix
    with open_engine(tantivy_engine.address) as engine:
        assert engine.check_files("papers"), "the files are intact again"
    reported = FLIPS - len(silent)
    record_result(FaultResult("bit flips", FLIPS, 0, reported, len(silent), 0, None, {"files": len(files)}))
    assert not silent, silent


@pytest.mark.slow
def test_a_file_that_is_damaged_while_it_is_open_is_reported(tantivy_engine: Engine) -> None:
    """Arrays are mapped into memory, so that a reader sees what changes in them."""
    write_index(tantivy_engine, make_corpus(60))
    epoch = next((Path(tantivy_engine.address) / "papers").glob("*/graph")).parent
    ids = [f"doc-{number:04d}" for number in range(60)]
    for name in ("graph/acl.npy", "graph/forward_word_ids.npy"):
        reader = open_engine(tantivy_engine.address).open_reader("papers")
        path = epoch / name
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.seek(128)
            file.write(b"\x7f" * (len(content) - 128))
        with pytest.raises(CorruptIndex, match=f"{name} differs from its checksum") as caught:
            for document in reader.fetch_lazy(ids):
                assert document is not None and document.tokens and document.phrases
        assert "\n" not in str(caught.value)
        path.write_bytes(content)
