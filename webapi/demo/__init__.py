"""``phrasecom demo``: the whole product on this machine."""
