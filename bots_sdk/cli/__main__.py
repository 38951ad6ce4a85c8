"""`python -m bots_sdk.cli` is `baohuang`."""

from bots_sdk.cli.main import main

if __name__ == "__main__":
    main()
