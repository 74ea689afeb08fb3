"""Computations in several spellings each, by subject: what `spellings.py` times and compares."""

from spelled import algebra as algebra
from spelled import counting as counting
from spelled import distances as distances
from spelled import finance as finance
from spelled import grids as grids
from spelled import images as images
from spelled import rows as rows
from spelled import series as series
from spelled import states as states
from spelled.registry import GROUPS as GROUPS
from spelled.registry import INPUTS as INPUTS
