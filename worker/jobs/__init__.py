"""Asynchronous jobs: their store, leases, queue and events."""
