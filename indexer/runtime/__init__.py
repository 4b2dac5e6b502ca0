"""Processes, memory and temporary files of long-running work."""
