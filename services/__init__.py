"""The platform: match service, lobby, tournaments, ledger and web pages."""
