"""One comparison: specification, sides, neighbourhood, features."""
