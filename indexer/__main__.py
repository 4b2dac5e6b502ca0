"""``python -m indexer`` is ``phrasecom``."""

from indexer.cli.main import main

main()
