"""Matches: tables, clocks, sessions and the gRPC service bots play on."""
