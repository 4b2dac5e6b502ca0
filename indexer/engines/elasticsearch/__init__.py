"""The Elasticsearch engine: an alias a name, one concrete index an epoch."""
