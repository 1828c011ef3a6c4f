"""A training step you can watch: a small real model on virtual ranks that really shard it, and a log of every byte."""

from .check import GradientCheck, check_gradients
from .run import Peak, Run, Step, baseline, simulate
from .settings import BREAKS, Costs, Settings
