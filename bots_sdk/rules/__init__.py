"""The game: cards, options, the deal as a state machine, what a seat sees of it.

Pure: no clock, no randomness, no input or output. Where to begin: `View` for a bot, `Match` for who lets bots play.
"""
