"""The Elasticsearch engine: one alias per index name, one concrete index per epoch."""
