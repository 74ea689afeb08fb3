"""Random numbers: generators made and given, `RandomState`, and the one generator behind `np.random.rand`."""

# ruff: noqa: E501, E701, E702, E741, NPY002, PERF401, B007, RUF005
from __future__ import annotations

import numpy as np

from tests.language.registry import case


@case(5)
def legacy_numbers(n):
    rng = np.random.RandomState(n)
    a=[rng.rand(), rng.randn(), rng.uniform(0,2), rng.normal(1,2), rng.exponential(2.), rng.random_sample()]
    b=[rng.randint(10), rng.randint(2,5), rng.poisson(3), rng.choice(5), rng.binomial(10,.3)]
    return a,b, rng.randn(2,3), rng.rand(4), rng.randint(0,9,size=(2,2)), rng.permutation(6), rng.choice(10,3,replace=False), rng.choice([1.5,2.5],size=4,p=[.3,.7]), rng.triangular(0,1,2,size=3)
@case(3, np.arange(12.).reshape(4,3))
def global_numbers(n, x):
    np.random.seed(n)
    out=np.random.randn(3)
    np.random.shuffle(x)
    s=0.
    for i in range(n):
        if np.random.rand() < .5:
            s += np.random.normal()
        else:
            out[np.random.randint(3)] += np.random.uniform(-1,1)
    np.random.seed(7)
    return out, s, np.random.permutation(5)
@case(np.random.default_rng(5), 4)
def given_generator(rng, n):
    s=[]
    for i in range(n):
        s.append(rng.random())
    return np.array(s), rng.integers(0,5,size=3), rng.normal(size=(2,2)), rng.multivariate_normal(np.zeros(2), np.eye(2), size=3), rng.dirichlet([1.,2.,3.]), rng.multinomial(5,[.2,.8])
@case(np.random.RandomState(5), 4, [0])
def given_state(rng, n, unused):
    s=0
    for i in range(n):
        if rng.rand() > .3: s += rng.randint(0,3)
    rng.seed(3)
    return s, rng.randn(), rng.dirichlet([1.,2.],size=2)
class Sim:
    def __init__(self, seed): self.rng=np.random.default_rng(seed); self.t=0
    def step(self): self.t+=self.rng.standard_normal(); return self.t
@case(Sim(3), 4)
def in_object(sim, n):
    return [sim.step() for _ in range(n)]
@case(3, 4)
def object_inside(seed, n):
    sim=Sim(seed)
    return [sim.step() for _ in range(n)]
@case(np.random.default_rng(5), np.zeros(3))
def raises(rng, x):
    x[0]=rng.random()
    k=rng.integers(3,9)
    return x[k]
@case(4)
def rng_or_none(n, rng=None):
    rng = rng or np.random.default_rng(0)
    return rng.random(n)
@case(4, 5)
def rng_or_none2(n, seed=None):
    if seed is not None:
        np.random.seed(seed)
    return np.random.rand(n)
@case(4, np.random.default_rng(5))
def check_random_state(n, rng=None):
    if rng is None:
        rng = np.random.default_rng()
    elif isinstance(rng, int):
        rng = np.random.default_rng(rng)
    return rng.random(n)
@case(np.random.RandomState(2), np.random.default_rng(3))
def which_kind(a, b):
    found = []
    for rng in (a, b):
        if isinstance(rng, np.random.Generator):
            found.append(rng.integers(0, 100))
        else:
            found.append(rng.randint(0, 100))
    return found
@case({"rng": np.random.default_rng(4), "n": 3})
def in_a_dict(config):
    rng = config["rng"]
    return rng.choice(config["n"]), [rng.permutation(config["n"]) for _ in range(2)]
@case(np.arange(10.))
def splits(x):
    np.random.seed(0)
    at = np.random.permutation(len(x))
    cut = int(0.7 * len(x))
    noise = 0.1 * np.random.randn(*x.shape)
    return (x + noise)[at[:cut]], x[at[cut:]], np.random.choice(x, 3)
