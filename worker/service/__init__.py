"""The facade of the web layer, the container of shared parts, and the handlers of jobs."""
