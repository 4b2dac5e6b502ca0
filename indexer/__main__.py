"""``python -m indexer`` is ``phrasecom``."""

from indexer.main import main

main()
