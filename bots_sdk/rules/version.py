"""The version of the rules: of what is legal, what a deal comes to, and how decks follow from a secret."""

RULES_VERSION = "1"
"""Changes with anything that would make a recorded match go another way."""
