"""Access control: API keys, scopes, rate limits."""
