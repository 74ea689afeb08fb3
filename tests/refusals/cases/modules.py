"""What a module has around its functions: libraries, constants, classes."""

import numpy as np
import plotted
import scipy.constants

SPEED = 2 * scipy.constants.c
TABLE = [1.0, 2.0]
TABLE.append(3.0)
STEPS = 10
STEPS = 20
DOUBLE_STEPS = 2 * STEPS


class Grid:
    def __init__(self, n):
        self.n = n


ORIGIN = Grid(1)


# --- libraries


def number_of_a_library(x):
    """number_of_a_library(float64[n])"""
    return x * scipy.constants.c


def number_of_a_library_instead(x):
    """number_of_a_library_instead(float64[n])"""
    return x * 299792458.0


def flag_of_a_library(x):
    """flag_of_a_library(float64[n])"""
    return x if plotted.LOGARITHMIC else np.exp(x)


def flag_of_a_library_instead(x, logarithmic):
    """flag_of_a_library_instead(float64[n], bool)"""
    return x if logarithmic else np.exp(x)


def name_of_the_module():
    """name_of_the_module()"""
    return __name__


def name_of_the_module_instead():
    """name_of_the_module_instead()"""
    return "modules"


# --- constants


def made_of_a_librarys_number(x):
    """made_of_a_librarys_number(float64[n])"""
    return x * SPEED


def table_that_grows(x):
    """table_that_grows(float64[n])"""
    return x + TABLE[0]


def made_of_what_is_bound_twice(x):
    """made_of_what_is_bound_twice(float64[n])"""
    return x * DOUBLE_STEPS


# --- classes


def class_of_the_file(x):
    """class_of_the_file(float64[n])"""
    grid = Grid(3)
    return x * grid.n


def object_of_the_file(x):
    """object_of_the_file(float64[n])"""
    return x * ORIGIN.n
