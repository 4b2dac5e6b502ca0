"""The words of one side: encoding, counting, partial matching, spans."""
