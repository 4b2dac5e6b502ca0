"""One module of view functions for each resource of the HTTP API."""
