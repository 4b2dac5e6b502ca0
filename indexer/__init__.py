"""Indexing documents: readers, text, phrase mining, salience, engines, settings and errors."""

__version__ = "0.1.0"

import os

# Our matrices are small: a second BLAS thread only spins, takes a core from another worker, and may
# add numbers in another order. The environment can ask for more.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
