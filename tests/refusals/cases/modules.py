"""What a module has around its functions: libraries, constants, classes."""

import numpy as np
import plotted
import scipy.constants

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
