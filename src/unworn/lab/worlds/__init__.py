"""Worlds: populations that know the truth, one a file. Rows are drawn from them as often as one likes."""

from unworn.lab.worlds.board_world import BoardScene, BoardWorld
from unworn.lab.worlds.finite_world import FiniteScene, FiniteWorld
from unworn.lab.worlds.label_noise_world import LabelNoiseScene, LabelNoiseWorld
from unworn.lab.worlds.planted_world import PlantedScene, PlantedWorld
from unworn.lab.worlds.product_world import ProductScene, ProductWorld
from unworn.lab.worlds.sign_world import SignScene, SignWorld
from unworn.lab.worlds.tabular_world import TabularScene, TabularWorld
from unworn.lab.worlds.world import Floats, Rule, Scene, World, versus

WORLDS: dict[str, type[World]] = {
    "board": BoardWorld,
    "finite": FiniteWorld,
    "label_noise": LabelNoiseWorld,
    "planted": PlantedWorld,
    "product": ProductWorld,
    "sign": SignWorld,
    "tabular": TabularWorld,
}
"""Every world, by name."""

__all__ = [
    "WORLDS",
    "BoardScene",
    "BoardWorld",
    "FiniteScene",
    "FiniteWorld",
    "Floats",
    "LabelNoiseScene",
    "LabelNoiseWorld",
    "PlantedScene",
    "PlantedWorld",
    "ProductScene",
    "ProductWorld",
    "Rule",
    "Scene",
    "SignScene",
    "SignWorld",
    "TabularScene",
    "TabularWorld",
    "World",
    "versus",
]
