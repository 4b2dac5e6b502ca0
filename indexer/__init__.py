"""Documents in, index out: readers, text, phrases, salience, engines, settings and errors."""

__version__ = "0.1.0"

import os

# Our matrices are small: a second BLAS thread only spins, steals a core from another worker, and may
# add numbers up in another order. Whoever wants more says so in the environment.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
