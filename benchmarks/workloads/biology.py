"""Biology: fingerprints, sequences, genotypes."""

from __future__ import annotations

import numpy as np

from .registry import jnp, prange, register

# ---- codes -----------------------------------------------------------------------------------------------------------


def hamming(queries, codes):
    """Hamming distances of all pairs of rows of bits, and the nearest code of each query."""
    distances = (queries[:, None, :] != codes[None, :, :]).sum(axis=2)
    return distances, distances.argmin(axis=1)


def hamming_loops(queries, codes):
    out = np.empty((len(queries), len(codes)), np.int64)
    nearest = np.empty(len(queries), np.int64)
    words = (codes.shape[1] + 63) // 64
    packed = np.zeros((len(codes), words), np.uint64)
    one = np.uint64(1)
    for j in prange(len(codes)):
        for k in range(codes.shape[1]):
            if codes[j, k]:
                packed[j, k // 64] |= one << np.uint64(k % 64)
    for i in prange(len(queries)):
        own = np.zeros(words, np.uint64)
        for k in range(codes.shape[1]):
            if queries[i, k]:
                own[k // 64] |= one << np.uint64(k % 64)
        best, at = codes.shape[1] + 1, 0
        for j in range(len(codes)):
            total = 0
            for w in range(words):
                x = own[w] ^ packed[j, w]
                x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
                x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
                x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
                x += x >> np.uint64(8)
                x += x >> np.uint64(16)
                x += x >> np.uint64(32)
                total += np.int64(x & np.uint64(127))
            out[i, j] = total
            if total < best:
                best, at = total, j
        nearest[i] = at
    return out, nearest


def hamming_jax(queries, codes):
    distances = (queries[:, None, :] != codes[None, :, :]).sum(axis=2)
    return distances, distances.argmin(axis=1)


register(
    "hamming", hamming,
    lambda rng, n: (rng.random((n, 64)) < 0.5, rng.random((n + 20, 64)) < 0.5), 300, 6, exact=True,
    loops=hamming_loops, arrays=hamming_jax,
)  # fmt: skip

# ---- sequences -------------------------------------------------------------------------------------------------------


def kmers(sequence, k):
    """How often each word of k bases occurs in a sequence of bytes, and the share of G and C in windows of 100."""
    table = np.full(256, 0, dtype=np.int64)
    table[np.frombuffer(b"ACGT", dtype=np.uint8)] = np.arange(4)
    bases = table[sequence]
    codes = np.zeros(len(bases) - k + 1, dtype=np.int64)
    for i in range(k):
        codes = codes * 4 + bases[i : len(bases) - k + 1 + i]
    counts = np.bincount(codes, minlength=4**k)
    strong = np.concatenate([[0], np.cumsum((bases == 1) | (bases == 2))])
    return counts, (strong[100:] - strong[:-100]) / 100


def kmers_loops(sequence, k):
    n = sequence.size
    table = np.zeros(256, np.int64)
    table[67], table[71], table[84] = 1, 2, 3
    parts = 8
    counts = np.zeros((parts, 4**k), np.int64)
    share = np.empty(n - 99)
    for part in prange(parts):
        start, end = (n - k + 1) * part // parts, (n - k + 1) * (part + 1) // parts
        code = 0
        for i in range(start, start + k - 1):
            code = code * 4 + table[sequence[i]]
        for i in range(start, end):
            code = (code * 4 + table[sequence[i + k - 1]]) % 4**k
            counts[part, code] += 1
        start, end = (n - 99) * part // parts, (n - 99) * (part + 1) // parts
        strong = 0
        for i in range(start, start + 99):
            strong += sequence[i] == 67 or sequence[i] == 71
        for i in range(start, end):
            strong += sequence[i + 99] == 67 or sequence[i + 99] == 71
            share[i] = strong / 100
            strong -= sequence[i] == 67 or sequence[i] == 71
    return counts.sum(axis=0), share


def kmers_jax(sequence, k):
    table = np.zeros(256, np.int64)
    table[[67, 71, 84]] = 1, 2, 3
    bases = jnp.asarray(table)[sequence]
    last = len(bases) - k + 1
    codes = jnp.zeros(last, jnp.int64)
    for i in range(k):
        codes = codes * 4 + bases[i : last + i]
    strong = jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum((bases == 1) | (bases == 2))])
    return jnp.bincount(codes, length=4**k), (strong[100:] - strong[:-100]) / 100


register(
    "k-mers", kmers, lambda rng, n: (rng.choice(np.frombuffer(b"ACGT", np.uint8), n), 5), 200_000, 300,
    loops=kmers_loops, arrays=kmers_jax,
)  # fmt: skip


def allele_frequencies(genotypes):
    """Of genotypes 0, 1, 2 or -1 (missing), individuals by sites: frequency, heterozygosity, and Hardy–Weinberg's F."""
    called = genotypes >= 0
    number = called.sum(axis=0)
    frequency = np.where(called, genotypes, 0).sum(axis=0) / (2 * number)
    observed = (genotypes == 1).sum(axis=0) / number
    expected = 2 * frequency * (1 - frequency)
    inbreeding = np.where(expected > 0, 1 - observed / np.maximum(expected, 1e-12), 0.0)
    return frequency, observed, inbreeding, 1 - called.mean(axis=1)


def allele_frequencies_loops(genotypes):
    people, sites = genotypes.shape
    parts = 8
    number, alleles = np.zeros((parts, sites), np.int32), np.zeros((parts, sites), np.int32)
    mixed, missing = np.zeros((parts, sites), np.int32), np.empty(people)
    for part in prange(parts):
        for i in range(people * part // parts, people * (part + 1) // parts):
            for s in range(sites):
                g = genotypes[i, s]
                number[part, s] += g >= 0
                alleles[part, s] += max(g, np.int8(0))
                mixed[part, s] += g == 1
            here = 0
            for s in range(sites):
                here += genotypes[i, s] >= 0
            missing[i] = 1 - here / sites
    called = number.sum(axis=0)
    frequency = alleles.sum(axis=0) / (2 * called)
    observed = mixed.sum(axis=0) / called
    expected = 2 * frequency * (1 - frequency)
    inbreeding = np.where(expected > 0, 1 - observed / np.maximum(expected, 1e-12), 0.0)
    return frequency, observed, inbreeding, missing


def allele_frequencies_jax(genotypes):
    called = genotypes >= 0
    number = called.sum(axis=0)
    frequency = jnp.where(called, genotypes, 0).sum(axis=0) / (2 * number)
    observed = (genotypes == 1).sum(axis=0) / number
    expected = 2 * frequency * (1 - frequency)
    inbreeding = jnp.where(expected > 0, 1 - observed / jnp.maximum(expected, 1e-12), 0.0)
    return frequency, observed, inbreeding, 1 - called.sum(axis=1) / genotypes.shape[1]


register(
    "allele frequencies", allele_frequencies, lambda rng, n: (rng.integers(-1, 3, (n, 2 * n)).astype(np.int8),), 700,
    12, loops=allele_frequencies_loops, arrays=allele_frequencies_jax,
)  # fmt: skip
