"""What every part of the platform shares: settings, clock, metrics, errors, logging, and the values that cross between parts."""
