"""From the result of a method to the answer."""
