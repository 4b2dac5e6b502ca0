"""The inside of the ``_search`` endpoint."""
