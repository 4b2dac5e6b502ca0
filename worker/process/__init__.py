"""The Celery worker process."""
