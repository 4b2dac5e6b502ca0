"""The facade the web layer talks to, and the handlers of its jobs."""
