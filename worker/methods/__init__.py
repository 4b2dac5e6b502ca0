"""Methods that sort phrases into common and distinct: the paper's and the containment rule, one module each."""
