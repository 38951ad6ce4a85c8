"""The platform's front: one gRPC address and one HTTP address, behind which lobby, tournaments and pages meet."""
