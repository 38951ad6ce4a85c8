"""The platform's commands, plugged into `baohuang` by entry points. Nothing heavy is imported before a command runs."""

from services.cli.dev_ca import dev_ca
from services.cli.entering import tournament
from services.cli.ledgers import ledger
from services.cli.serving import serve
from services.cli.tokens import token

__all__ = ["dev_ca", "ledger", "serve", "token", "tournament"]
