"""What all routes share: problem responses, headers, metrics, static files."""
