"""Tournaments for operators: the verbs, and the gRPC service that offers them."""

from services.tournament.servicer.desk import Desk, DirectorLost, DirectorPort
from services.tournament.servicer.servicer import SERVICE_NAME, TournamentServicer

__all__ = ["SERVICE_NAME", "Desk", "DirectorLost", "DirectorPort", "TournamentServicer"]
