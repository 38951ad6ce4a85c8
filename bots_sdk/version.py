"""Versions: of this package, and of the protocol it speaks."""

__version__ = "0.1.0"
PROTOCOL_VERSION = 1
SDK_NAME = f"python/{__version__}"
"""What a client says of itself."""
