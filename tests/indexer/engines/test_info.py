"""What is known of an index, told without its phrase model; the same for both engines."""

from __future__ import annotations

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import UnknownIndex
from indexer.model.phrase_model import PhraseModel
from tests.support import index_processes


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the models that were read."""
    sizes: list[int] = []
    read = PhraseModel.from_bytes

    def counted(data: bytes) -> PhraseModel:
        sizes.append(len(data))
        return read(data)

    monkeypatch.setattr(PhraseModel, "from_bytes", counted)
    return sizes


def test_it_is_what_a_reader_says_at_every_moment(engine: Engine) -> None:
    for number in (1, 2):
        index_processes.build_generation(engine, number)
        assert engine.get_info("papers") == engine.open_reader("papers").info
        assert engine.get_info("papers").epoch == str(number)
        engine.add_documents("papers", [index_processes.added("extra")])
        engine.delete_documents("papers", ["doc-0001"])
        changed = engine.get_info("papers")
        assert changed == engine.open_reader("papers").info and changed.drift > 0


def test_no_model_is_loaded_for_it(engine: Engine, loaded: list[int]) -> None:
    index_processes.build_generation(engine, 1)
    address, options = index_processes.address_of(engine)
    loaded.clear()
    with open_engine(address, **options) as another:
        for _ in range(3):
            assert another.get_info("papers").documents == len(index_processes.IDS)
        assert loaded == []
        assert another.open_reader("papers").model.phrases
    assert len(loaded) == 1


def test_elasticsearch_is_asked_twice_about_an_epoch_and_then_once(elasticsearch_engine: Engine) -> None:
    address, options = index_processes.address_of(elasticsearch_engine)
    requests: list[float] = []
    with open_engine(address, **options) as another:
        another.get_version()
        another.time_requests(requests.append)
        for number in (1, 2):
            index_processes.build_generation(elasticsearch_engine, number)
            requests.clear()
            for asked in (2, 3, 4):
                assert another.get_info("papers").epoch == str(number)
                assert len(requests) == asked


def test_an_index_that_is_not_there_is_unknown(engine: Engine) -> None:
    with pytest.raises(UnknownIndex):
        engine.get_info("papers")
    index_processes.build_generation(engine, 1)
    engine.get_info("papers")
    engine.delete_index("papers")
    with pytest.raises(UnknownIndex):
        engine.get_info("papers")
