"""Games against mechanisms that are only answers: what no way of answering withstands, certified or not."""

from unworn.lab.games.fingerprinting_code import Accuser, FingerprintingCode
from unworn.lab.games.fingerprinting_game import GameResult, play_game

__all__ = ["Accuser", "FingerprintingCode", "GameResult", "play_game"]
