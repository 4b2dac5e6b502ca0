"""Information about an index, read without its phrase model."""

from __future__ import annotations

from typing import BinaryIO

import pytest

from indexer.engines import open_engine
from indexer.engines.base import Engine
from indexer.errors import UnknownIndex
from indexer.model.phrase_model import PhraseModel
from tests.support import index_processes


@pytest.fixture
def loaded_models(monkeypatch: pytest.MonkeyPatch) -> list[PhraseModel]:
    """Grows by each model that is loaded."""
    models: list[PhraseModel] = []
    read = PhraseModel.read

    def record_model(file: BinaryIO) -> PhraseModel:
        models.append(read(file))
        return models[-1]

    monkeypatch.setattr(PhraseModel, "read", record_model)
    return models


def test_index_info_equals_that_of_a_reader_after_every_change(engine: Engine) -> None:
    for number in (1, 2):
        index_processes.build_generation(engine, number)
        assert engine.get_info("papers") == engine.open_reader("papers").info
        assert engine.get_info("papers").epoch == str(number)
        engine.add_documents("papers", [index_processes.make_added_document("extra")])
        engine.delete_documents("papers", ["doc-0001"])
        changed = engine.get_info("papers")
        assert changed == engine.open_reader("papers").info and changed.drift > 0


def test_index_info_is_read_without_loading_the_model(engine: Engine, loaded_models: list[PhraseModel]) -> None:
    index_processes.build_generation(engine, 1)
    address, options = index_processes.get_engine_address(engine)
    loaded_models.clear()
    with open_engine(address, **options) as second_engine:
        for _ in range(3):
            assert second_engine.get_info("papers").documents == len(index_processes.DOCUMENT_IDS)
        assert loaded_models == []
        assert second_engine.open_reader("papers").model.phrases
    assert len(loaded_models) == 1


def test_index_info_takes_two_requests_for_a_new_epoch_and_then_one(elasticsearch_engine: Engine) -> None:
    address, options = index_processes.get_engine_address(elasticsearch_engine)
    requests: list[float] = []
    with open_engine(address, **options) as second_engine:
        second_engine.get_version()
        second_engine.time_requests(requests.append)
        for number in (1, 2):
            index_processes.build_generation(elasticsearch_engine, number)
            requests.clear()
            for request_count in (2, 3, 4):
                assert second_engine.get_info("papers").epoch == str(number)
                assert len(requests) == request_count


def test_an_index_that_is_not_there_is_unknown(engine: Engine) -> None:
    with pytest.raises(UnknownIndex):
        engine.get_info("papers")
    index_processes.build_generation(engine, 1)
    engine.get_info("papers")
    engine.delete_index("papers")
    with pytest.raises(UnknownIndex):
        engine.get_info("papers")
