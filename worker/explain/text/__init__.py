"""The words of a side: encoding, counting, partial matching, spans."""
