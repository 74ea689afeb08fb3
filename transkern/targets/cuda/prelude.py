"""The pieces of CUDA C++ that generated kernels stand on; a file gets those that it uses."""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir.nodes import GUARD_NUMBERS
from transkern.targets.cuda import groups

SHARING = 1024
"""Threads of a block whose points they share, at most."""
MOST_SHARED = 1024
"""Blocks that share points with others, at most: one a multiprocessor."""

COMMON = r"""
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
"""

HALF = r"""
// NumPy's float16 in memory; what is computed with it is computed in float and rounded.
struct Half {
    unsigned short bits;
    Half() = default;
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
    __device__ Half(const float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ explicit Half(const double x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
    __device__ explicit operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
#else
    Half(const float x) { put((_Float16)x); }
    explicit Half(const double x) { put((_Float16)x); }
    explicit operator float() const {
        _Float16 x;
        __builtin_memcpy(&x, &bits, 2);
        return x;
    }
    void put(const _Float16 x) { __builtin_memcpy(&bits, &x, 2); }
#endif
};
"""

LANES = r"""
// The value that another lane of the warp holds, of any type: it travels in words of 32 bits.
template <class T>
static __device__ __forceinline__ T from_lane_xor(const T value, const int distance) {
    union Words { unsigned words[(sizeof(T) + 3) / 4]; T value; __device__ Words() : words() {} } here, there;
    here.value = value;
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)
        there.words[k] = __shfl_xor_sync(0xffffffffu, here.words[k], distance);
    return there.value;
}
template <class T>
static __device__ __forceinline__ T from_lane(const T value, const int lane) {
    union Words { unsigned words[(sizeof(T) + 3) / 4]; T value; __device__ Words() : words() {} } here, there;
    here.value = value;
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k)
        there.words[k] = __shfl_sync(0xffffffffu, here.words[k], lane);
    return there.value;
}
// All 32 values combined, the same tree in every lane.
template <class T, class Op>
static __device__ __forceinline__ T warp_reduce(T value, const Op op) {
#pragma unroll
    for (int distance = 16; distance > 0; distance >>= 1) value = op(value, from_lane_xor(value, distance));
    return value;
}
// The values of this lane and those before it combined.
template <class T, class Op>
static __device__ __forceinline__ T warp_scan(T value, const Op op) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
        const T before = from_lane(value, (lane - distance) & 31);
        if (lane >= distance) value = op(before, value);
    }
    return value;
}
"""

EXACT = r"""
// A sum of doubles, and what rounding took from it.
struct Exact {
    double sum, lost;
    __device__ void add(const double x) {
        const double total = sum + x, part = total - sum;
        const double error = (sum - (total - part)) + (x - part);
        if (error - error == 0) lost += error;  // not where a sum is infinite
        sum = total;
    }
    __device__ double total() const { return lost == 0 ? sum : sum + lost; }
};
struct AddExactly {
    static __device__ Exact start() { return {0.0, 0.0}; }
    __device__ Exact operator()(const Exact &a, const Exact &b) const {  // the same for (b, a), to the last bit
        Exact result = {a.sum, 0.0};
        result.add(b.sum);
        result.lost += a.lost + b.lost;
        return result;
    }
};
struct RunExactly : AddExactly {
    static __device__ Exact start() { return {-0.0, 0.0}; }
};
"""

BEST = r"""
// A value and where it stands; position -1: none yet.
template <class T>
struct Best { T value; long long position; };
"""

SEARCH = r"""
// The last (first) position in [low, high) where `holds`, or -1. Stops at the group of positions with a hit; a position
// is looked at by the thread that owns it.
template <class Group, class Holds>
static __device__ __forceinline__ long long last_of(
        Group &group, const long long low, const long long high, const Holds holds) {
    const long long size = group.size();
    long long base = (high - 1) & -size;
    for (;;) {
        const long long p = base + group.rank();
        const int found = group.highest(p >= low && p < high && holds(p));
        if (found >= 0) return base + found;
        if (base <= low) return -1;
        base -= size;
    }
}
template <class Group, class Holds>
static __device__ __forceinline__ long long first_of(
        Group &group, const long long low, const long long high, const Holds holds) {
    const long long size = group.size();
    long long base = low & -size;
    for (;;) {
        const long long p = base + group.rank();
        const int found = group.lowest(p >= low && p < high && holds(p));
        if (found >= 0) return base + found;
        base += size;
        if (base >= high) return -1;
    }
}
"""

FAILURE = r"""
// A thread's first failed check: the iteration it failed in, which check it was (0: none), and its message's numbers.
constexpr int NUMBERS = COUNT;
struct Failure { long long at, code, numbers[NUMBERS]; };
""".replace("COUNT", str(GUARD_NUMBERS))

EARLIER = r"""
struct Earlier {
    static __device__ long long start() { return 0x7fffffffffffffffll; }
    __device__ long long operator()(const long long a, const long long b) const { return a < b ? a : b; }
};
"""

HAS_FAILED = r"""
// Whether a check failed in any thread; the earliest is put into `error`.
template <class Group>
static __device__ __forceinline__ bool has_failed(Group &group, const Failure &mine, long long *error) {
    const long long earliest = group.reduce(mine.code ? mine.at : Earlier::start(), Earlier());
    if (earliest == Earlier::start()) return false;
    if (mine.code && mine.at == earliest) {
        error[0] = mine.code;
        for (int k = 0; k < NUMBERS; ++k) error[1 + k] = mine.numbers[k];
    }
    return true;
}
"""

PUT_FAILURE = r"""
// Puts a failed check into `error`, unless that of an earlier iteration is there. Behind the numbers, `error`
// says how early that is, as the complement of its number (zero is none), and then 1 while a thread writes.
static __device__ __forceinline__ void put_failure(const Failure &mine, long long *error) {
    const unsigned long long early = ~(unsigned long long)mine.at;
    unsigned long long *earliest = (unsigned long long *)error + 1 + NUMBERS, *busy = earliest + 1;
    if (atomicMax(earliest, early) > early) return;
    while (atomicCAS(busy, 0ull, 1ull)) __nanosleep(100);
    __threadfence();
    if (atomicMax(earliest, 0ull) == early) {
        error[0] = mine.code;
#pragma unroll
        for (int k = 0; k < NUMBERS; ++k) error[1 + k] = mine.numbers[k];
    }
    __threadfence();
    atomicExch(busy, 0ull);
}
"""

ROW_FAILED = r"""
// Whether a check failed in any thread of the block that has this row; the earliest is then put down as the row's.
template <class Group>
static __device__ __forceinline__ bool row_failed(
        Group &group, Failure &failure, const long long row, long long *error) {
    const long long earliest = group.reduce(failure.code ? failure.at : Earlier::start(), Earlier());
    if (earliest == Earlier::start()) return false;
    if (failure.code && failure.at == earliest) {
        failure.at = row;
        put_failure(failure, error);
    }
    failure.code = -1;  // put down
    return true;
}
"""

PACK = r"""
// N elements that are loaded and stored as one word of up to 16 bytes.
template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
    T at[N];
    static __device__ Pack load(const T *p) { return *(const Pack *)p; }
    __device__ void store(T *p) const { *(Pack *)p = *this; }
};
// Whether N elements at each of these addresses can be loaded as one word.
template <int N, class... T>
static __device__ __forceinline__ bool in_words(const T *...p) {
    return (((size_t)p % (N * sizeof(T)) == 0) && ...);
}
"""

SHARE = r"""
// Which elements of a row a thread of a block keeps, HELD at most: those of words of N where the row is read in words,
// else each is a block's size behind the one before.
template <int N, int HELD>
struct Share {
    const bool words;
    const int first, step, further, length;
    __device__ Share(const Block &block, const long long row, const bool words)
        : words(words), first(words ? N * block.rank() : block.rank()), step(words ? 1 : block.size()),
          further(N * block.size()), length(row < HELD * block.size() ? (int)row : HELD * block.size()) {}
    __device__ int at(const int k) const { return k / N * further + first + k % N * step; }
    __device__ bool has(const int k) const { return at(k) < length; }
    template <class T>
    __device__ void load(T (&held)[HELD], const T *row) const {
        if (words) {
#pragma unroll
            for (int k = 0; k < HELD; k += N) {
                if (!has(k)) continue;
                const Pack<T, N> pack = Pack<T, N>::load(row + at(k));
#pragma unroll
                for (int j = 0; j < N; ++j) held[k + j] = pack.at[j];
            }
        } else {
#pragma unroll
            for (int k = 0; k < HELD; ++k)
                if (has(k)) held[k] = row[at(k)];
        }
    }
    template <class T>
    __device__ void store(const T (&held)[HELD], T *row) const {
        if (words) {
#pragma unroll
            for (int k = 0; k < HELD; k += N) {
                if (!has(k)) continue;
                Pack<T, N> pack;
#pragma unroll
                for (int j = 0; j < N; ++j) pack.at[j] = held[k + j];
                pack.store(row + at(k));
            }
        } else {
#pragma unroll
            for (int k = 0; k < HELD; ++k)
                if (has(k)) row[at(k)] = held[k];
        }
    }
};
"""

TURNED = r"""
// Memory of a warp for what its lanes turn: 32 bytes of each, and gaps.
static __device__ __forceinline__ unsigned char *warp_room() {
    __shared__ alignas(16) unsigned char room[32 * 1088];
    return room + threadIdx.x / 32 * 1088;
}
// Elements that the lanes of a warp write in one order and read in another; neither meets in a bank.
template <class T>
struct Turned {
    T *const first = (T *)warp_room();
    __device__ T &operator[](const int k) const { return first[k + k / (128 / (int)sizeof(T))]; }
};
"""

INTERLEAVED = r"""
// Memory of one thread, whose elements stand as far from each other as there are threads.
template <class T>
struct Interleaved {
    T *const first;
    const long long step;
    __device__ T &operator[](const long long k) const { return first[k * step]; }
};
"""

QUOTIENT = r"""
// The quotient of numbers that are not negative; where both have 32 bits, so has the division.
static __device__ __forceinline__ long long quotient(const long long a, const long long b) {
    return (long long)((unsigned long long)a / (unsigned long long)b);
}
"""

ODOMETER = r"""
// How many times `count`, which is positive, goes into the number of a thread.
static __device__ __forceinline__ int quotient(const int number, const long long count) {
    return count > number ? 0 : (int)((unsigned)number / (unsigned)count);
}
// A place less than two rounds of `count` on, less the round that it has made, which counts in the place before it.
static __device__ __forceinline__ void carry(long long &place, const long long count, long long &before) {
    const bool is_beyond = place >= count;
    place -= is_beyond ? count : 0;
    before += is_beyond;
}
"""

LAST_BLOCK = r"""
// Whether this block is the last of the grid to come here: it sees what the others stored before. The next launch
// counts from zero again.
static __device__ __forceinline__ bool is_last_block(unsigned *arrived) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        if (last) atomicExch(arrived, 0u);
        __threadfence();
    }
    __syncthreads();
    return last;
}
"""


def compose(used: Iterable[str]) -> str:
    """The text of the pieces in `used`: ``half``, ``block warp grid`` and their members ``reduce search scan place
    places``, ``exact``, ``best``, ``has_failed``, ``put_failure``, ``row_failed``, ``pack``, ``share``,
    ``turned``, ``interleaved``, ``last_block``, ``quotient``, ``odometer``."""
    pieces = set(used)
    if "row_failed" in pieces:
        pieces.add("put_failure")
    if pieces & {"has_failed", "row_failed"}:
        pieces |= {"reduce", "earlier"}
    if pieces & {"has_failed", "put_failure"}:
        pieces.add("failure")
    if "search" in pieces and "grid" in pieces:
        pieces.add("reduce")
    if (pieces & {"place", "places"} and "grid" in pieces) or ("scan" in pieces and "grid" in pieces):
        pieces.add("reduce")
    used_groups = pieces & {"block", "warp", "grid"}
    if "parts" in pieces and not used_groups:
        pieces.add("block")
        used_groups = {"block"}
    parts = [COMMON] + ([HALF] if "half" in pieces else [])
    if used_groups:
        parts.append(LANES)
    parts += [text for name, text in (("exact", EXACT), ("best", BEST)) if name in pieces]
    if "threads" in pieces:
        parts.append(groups.THREADS)
    if pieces & {"grid", "parts"}:
        parts.append(groups.MEETING)
    members = [name for name in ("reduce", "fold", "search", "scan", "place", "places") if name in pieces]
    for name, head, table in (
        ("block", groups.BLOCK, groups.BLOCK_PARTS),
        ("warp", groups.WARP, groups.WARP_PARTS),
        ("grid", groups.GRID, groups.GRID_PARTS),
    ):
        if name in used_groups or (name == "block" and "grid" in used_groups):
            if name == "grid":
                parts.append(groups.GRID_OPS)
            parts.append(head.rstrip("\n") + "".join(table.get(m, "").rstrip("\n") for m in members) + "\n};\n")
    if "parts" in pieces:
        parts.append(groups.PARTS.replace("THREADS", str(SHARING)).replace("MOST", str(MOST_SHARED)))
    last = (
        ("search", SEARCH), ("failure", FAILURE), ("earlier", EARLIER), ("has_failed", HAS_FAILED),
        ("put_failure", PUT_FAILURE), ("row_failed", ROW_FAILED), ("pack", PACK), ("share", SHARE), ("turned", TURNED),
        ("interleaved", INTERLEAVED), ("last_block", LAST_BLOCK), ("quotient", QUOTIENT),
        ("odometer", ODOMETER),
    )  # fmt: skip
    parts += [text for name, text in last if name in pieces]
    return "".join(parts).lstrip("\n")
