"""The ``phrasecom`` command line."""
