"""Sojourn: a laboratory for queues."""
from sojourn.scenario import Scenario, chain, dumbbell, graph, load, parking_lot
