"""What a bot author installs: the rules of 保皇, the Bot interface and a client for the arena."""
