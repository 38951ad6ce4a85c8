"""The game: cards, options, the deal as a state machine, what a seat sees of it. Pure: no clock, no randomness, no I/O."""
