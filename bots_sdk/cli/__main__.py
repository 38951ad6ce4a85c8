"""`python -m bots_sdk.cli` is `baohuang`."""

from bots_sdk.cli import main

if __name__ == "__main__":
    main()
