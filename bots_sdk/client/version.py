"""What this client says of itself."""

from bots_sdk import __version__

PROTOCOL_VERSION = 1
SDK_NAME = f"python/{__version__}"
