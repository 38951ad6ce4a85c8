"""Who calls, and what they may do: tokens, callers, and the one table that says what each call needs."""
