"""Bots: registration, tokens, presence, tickets."""
