"""Tournaments: specification, schedule, standings, and the director that plays them."""
