"""Sentence vectors for development: an encoder that is fetched when it is first used. The product never loads it."""

from worker.evaluation.sentence_encoder.encoder import SentenceEncoder

__all__ = ["SentenceEncoder"]
