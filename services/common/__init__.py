"""What every part of the platform shares: settings, clock, metrics, errors, logging, and what crosses between them."""
