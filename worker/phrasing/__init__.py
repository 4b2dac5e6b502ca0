"""How a phrase is written for people; the entry point is full_form.py."""
