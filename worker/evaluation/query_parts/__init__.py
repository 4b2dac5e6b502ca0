"""Parts of the evaluation of queries that need no judgement: unrelated documents, and hits that only vectors find."""
