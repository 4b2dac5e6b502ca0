"""The gunicorn server."""
