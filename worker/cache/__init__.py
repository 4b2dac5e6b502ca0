"""Caches of answers, document versions and readable ids, and the key-value store behind them."""
