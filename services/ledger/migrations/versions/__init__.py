"""The steps, each from one revision to the next."""
