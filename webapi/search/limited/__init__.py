"""Searches of an attached source by callers with limited groups: what they may send, and what they are shown."""
