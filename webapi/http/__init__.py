"""HTTP parts that all routes share: problem responses, headers, metrics, static files."""
