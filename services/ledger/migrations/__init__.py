"""How a ledger of any earlier version becomes one of this version; run by `services/ledger/upgrade.py`."""
