"""Groups of threads in CUDA C++.

`Block`, `Warp` and `Grid` are groups of threads with the same members, so that a loop body is written once:

    rank() size()          this thread's number, and how many there are (a power of two)
    start(low)             the first position at or above `low` that is this thread's: position % size() == rank()
    sync()                 waits for all, and makes what they stored visible
    reduce(value, op)      the values of all threads combined; every thread gets the result
    first, last(low, high, holds)   a search that stops at the first group of positions with a hit
    scan(value, op, total) the values of the threads before this one combined

Each collective member holds one barrier. Between two uses of one scratch slot there is another collective's barrier, as
the slots alternate (`turn`), so none needs a second barrier.
"""

from __future__ import annotations

BLOCK = r"""
// The threads of one block working together.
struct Block {
    unsigned turn = 0;  // which half of a scratch array comes next
    __device__ int rank() const { return threadIdx.x; }
    __device__ int size() const { return blockDim.x; }
    __device__ int warp() const { return threadIdx.x / 32; }
    __device__ int warps() const { return blockDim.x / 32; }
    __device__ long long start(const long long low) const { return low + ((rank() - low) & (size() - 1)); }
    __device__ void sync() { __syncthreads(); }
"""

BLOCK_PARTS = {
    "reduce": r"""
    template <class T, class Op>
    __device__ T reduce(T value, const Op op) {
        __shared__ T slots[2][32];
        const int lane = threadIdx.x & 31;
        turn ^= 1;
        value = warp_reduce(value, op);
        if (lane == 0) slots[turn][warp()] = value;
        __syncthreads();
        value = slots[turn][lane & (warps() - 1)];
#pragma unroll
        for (int distance = 16; distance > 0; distance >>= 1)
            if (distance < warps()) value = op(value, from_lane_xor(value, distance));
        return value;
    }
    __device__ bool any(const bool value) { return __syncthreads_or(value); }
    __device__ bool all(const bool value) { return __syncthreads_and(value); }
    // The value that the thread `rank` has.
    template <class T>
    __device__ T from(const T value, const int rank) {
        __shared__ T slots[2];
        turn ^= 1;
        if ((int)threadIdx.x == rank) slots[turn] = value;
        __syncthreads();
        return slots[turn];
    }
""",
    "search": r"""
    // The highest (lowest) rank where `here` holds; -1 (the size of an unsigned) where none does.
    __device__ int highest(const bool here) {
        __shared__ int slots[2][32];
        const int lane = threadIdx.x & 31;
        const unsigned votes = __ballot_sync(0xffffffffu, here);
        turn ^= 1;
        if (lane == 0) slots[turn][warp()] = votes ? warp() * 32 + 31 - __clz(votes) : -1;
        __syncthreads();
        return __reduce_max_sync(0xffffffffu, lane < warps() ? slots[turn][lane] : -1);
    }
    __device__ int lowest(const bool here) {
        __shared__ unsigned slots[2][32];
        const int lane = threadIdx.x & 31;
        const unsigned votes = __ballot_sync(0xffffffffu, here);
        turn ^= 1;
        if (lane == 0) slots[turn][warp()] = votes ? warp() * 32 + __ffs(votes) - 1 : 0xffffffffu;
        __syncthreads();
        return (int)__reduce_min_sync(0xffffffffu, lane < warps() ? slots[turn][lane] : 0xffffffffu);
    }
""",
    "fold": r"""
    // Whether this block works for the group, which then learns what it has found.
    __device__ bool leads() const { return true; }
    __device__ Block &first() { return *this; }
""",
    "scan": r"""
    template <class T, class Op>
    __device__ T scan(const T value, const Op op, T &total) {
        __shared__ T slots[2][32];
        const int lane = threadIdx.x & 31;
        turn ^= 1;
        const T upto = warp_scan(value, op);
        if (lane == 31) slots[turn][warp()] = upto;
        __syncthreads();
        T sums = Op::start();
        if (lane < warps()) sums = slots[turn][lane];
        sums = warp_scan(sums, op);
        total = from_lane(sums, 31);
        T before = from_lane(sums, (warp() - 1) & 31);
        T own = from_lane(upto, (lane - 1) & 31);
        if (lane == 0) own = Op::start();
        return warp() == 0 ? own : op(before, own);
    }
""",
    "place": r"""
    // How many threads before this one keep something; `total`: how many do.
    __device__ int place(const bool keep, int &total) {
        __shared__ int slots[2][32];
        const int lane = threadIdx.x & 31;
        const unsigned votes = __ballot_sync(0xffffffffu, keep);
        turn ^= 1;
        if (lane == 0) slots[turn][warp()] = __popc(votes);
        __syncthreads();
        const int count = lane < warps() ? slots[turn][lane] : 0;
        total = __reduce_add_sync(0xffffffffu, count);
        const int before = __reduce_add_sync(0xffffffffu, lane < warp() ? count : 0);
        return before + __popc(votes & ((1u << lane) - 1));
    }
""",
    "places": r"""
    // How many elements the warps before this one keep; `before`: how many of this warp stand before each of this
    // thread's, of which lanes have one beside the other at a time.
    template <int EACH>
    __device__ int places(const bool (&keep)[EACH], int (&before)[EACH], int &total) {
        __shared__ int slots[2][32];
        const int lane = threadIdx.x & 31;
        int kept = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const unsigned votes = __ballot_sync(0xffffffffu, keep[k]);
            before[k] = kept + __popc(votes & ((1u << lane) - 1));
            kept += __popc(votes);
        }
        turn ^= 1;
        if (lane == 0) slots[turn][warp()] = kept;
        __syncthreads();
        const int count = lane < warps() ? slots[turn][lane] : 0;
        total = __reduce_add_sync(0xffffffffu, count);
        return __reduce_add_sync(0xffffffffu, lane < warp() ? count : 0);
    }
""",
}

THREADS = r"""
// All threads of a grid, where none waits for another.
struct Threads {
    __device__ int rank() const { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ int size() const { return gridDim.x * blockDim.x; }
    __device__ int warp() const { return rank() / 32; }
    __device__ int warps() const { return size() / 32; }
    __device__ long long start(const long long low) const { return low + ((rank() - low) & (size() - 1)); }
};
"""

WARP = r"""
// The 32 threads of one warp working together.
struct Warp {
    __device__ int rank() const { return threadIdx.x & 31; }
    __device__ int size() const { return 32; }
    __device__ long long start(const long long low) const { return low + ((rank() - low) & 31); }
    __device__ void sync() { __syncwarp(); }
"""

WARP_PARTS = {
    "reduce": r"""
    template <class T, class Op>
    __device__ T reduce(const T value, const Op op) {
        const T result = warp_reduce(value, op);
        __syncwarp();
        return result;
    }
    __device__ bool any(const bool value) { __syncwarp(); return __any_sync(0xffffffffu, value); }
    __device__ bool all(const bool value) { __syncwarp(); return __all_sync(0xffffffffu, value); }
    template <class T>
    __device__ T from(const T value, const int rank) { __syncwarp(); return from_lane(value, rank); }
""",
    "search": r"""
    __device__ int highest(const bool here) {
        const unsigned votes = __ballot_sync(0xffffffffu, here);
        __syncwarp();
        return votes ? 31 - __clz(votes) : -1;
    }
    __device__ int lowest(const bool here) {
        const unsigned votes = __ballot_sync(0xffffffffu, here);
        __syncwarp();
        return votes ? __ffs(votes) - 1 : -1;
    }
""",
    "scan": r"""
    template <class T, class Op>
    __device__ T scan(const T value, const Op op, T &total) {
        const T upto = warp_scan(value, op);
        total = from_lane(upto, 31);
        const T own = from_lane(upto, (rank() - 1) & 31);
        __syncwarp();
        return rank() == 0 ? Op::start() : own;
    }
""",
    "place": r"""
    __device__ int place(const bool keep, int &total) {
        const unsigned votes = __ballot_sync(0xffffffffu, keep);
        total = __popc(votes);
        __syncwarp();
        return __popc(votes & ((1u << rank()) - 1));
    }
""",
}

MEETING = r"""
// Where blocks that are all resident wait for each other. `arrived`: two numbers, zero at first and after.
struct Meeting {
    unsigned *arrived, blocks, passed = 0;
    __device__ Meeting(unsigned *arrived, const unsigned blocks) : arrived(arrived), blocks(blocks) {}
    __device__ void meet() {
        __syncthreads();
        passed += blocks;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1u);
            while ((int)(*(volatile unsigned *)arrived - passed) < 0) __nanosleep(40);
            __threadfence();
        }
        __syncthreads();
    }
    // The last of all; whoever leaves last leaves the numbers as they were, for the next launch.
    __device__ void leave() {
        if (threadIdx.x != 0) return;
        __threadfence();
        if (atomicAdd(arrived + 1, 1u) == blocks - 1) {
            atomicExch(arrived, 0u);
            atomicExch(arrived + 1, 0u);
        }
    }
};
"""

PARTS = r"""
// The threads that share a point: one of each `width` threads of a block, of `blocks` blocks side by side. A thread
// whose point is not there has a rank that no loop reaches, and comes along. `memory`, where there are several blocks:
// two counters for each MOST blocks of a grid, then two rows of 16 bytes a point and block.
struct Parts {
    const int parts, blocks, whole, width, point, part;  // `part`: which of the block's threads that have this point
    const int team, block;  // which blocks work together, and which of them this is
    bool is_there = false;
    unsigned turn = 0;  // which half of the slots comes next
    Meeting meeting;
    unsigned char *rows;
    __device__ Parts(const int parts, const int blocks, unsigned char *memory)
        : parts(parts), blocks(blocks), whole(parts * blocks), width(blockDim.x / parts), point(threadIdx.x % width),
          part(threadIdx.x / width), team(blockIdx.x / blocks), block(blockIdx.x % blocks),
          meeting((unsigned *)memory + 2 * team, blocks), rows(memory + 8 * MOST) {}
    // The first of the points that the block has at a time, and how far it is from there to the next.
    __device__ long long first() const { return team * (long long)width; }
    __device__ long long step() const { return gridDim.x / blocks * (long long)width; }
    __device__ int place() const { return block * parts + part; }
    __device__ long long rank() const { return is_there ? place() : 1ll << 62; }
    __device__ int size() const { return whole; }
    __device__ long long start(const long long low) const {
        return is_there ? low + ((rank() - low) & (size() - 1)) : 1ll << 62;
    }
    __device__ void sync() {
        if (blocks == 1) __syncthreads();
        else meeting.meet();
    }
    __device__ void leave() {
        if (blocks > 1) meeting.leave();
    }
    // A warp's parts of a point first, if it has several; its lanes then take those of all warps by turns, and each
    // block those of all blocks.
    template <class T, class Op>
    __device__ T reduce(T value, const Op op) {
        if (parts == 1) return value;
        __shared__ T slots[2][THREADS / 2];
        const int several = width < 32 ? 32 / width : 1, left = parts / several;
        for (int distance = 16; distance >= width; distance >>= 1) value = op(value, from_lane_xor(value, distance));
        turn ^= 1;
        if (part % several == 0) slots[turn][part / several * width + point] = value;
        __syncthreads();
        value = Op::start();
        for (int k = part % several; k < left; k += several) value = op(value, slots[turn][k * width + point]);
        for (int distance = 16; distance >= width; distance >>= 1) value = op(value, from_lane_xor(value, distance));
        if (blocks == 1) return value;
        const T *const theirs = of_blocks(value);
        value = theirs[0];
#pragma unroll 1
        for (int k = 1; k < blocks; ++k) value = op(value, theirs[k * width]);
        return value;
    }
    // The values of a point that its blocks have, one each `width` elements.
    template <class T>
    __device__ const T *of_blocks(const T value) {
        T *const theirs = (T *)(rows + 16ll * width * (turn * gridDim.x + team * blocks)) + point;
        if (part == 0) theirs[block * width] = value;
        meeting.meet();
        return theirs;
    }
    // What the threads of the point before this one have come to: first those of a warp, then warps, then blocks.
    template <class T, class Op>
    __device__ T scan(const T value, const Op op, T &total) {
        T before = Op::start();
        total = value;
        if (parts == 1) return before;
        __shared__ T slots[2][THREADS / 2];
        const int lane = threadIdx.x & 31, several = width < 32 ? 32 / width : 1, left = parts / several;
        T upto = value;
        for (int distance = width; distance < 32; distance <<= 1) {
            const T other = from_lane(upto, (lane - distance) & 31);
            if (lane >= distance) upto = op(other, upto);
        }
        turn ^= 1;
        if (part % several == several - 1) slots[turn][part / several * width + point] = upto;
        const T own = from_lane(upto, (lane - width) & 31);
        __syncthreads();
        total = Op::start();
#pragma unroll 1
        for (int k = 0; k < left; ++k) {
            if (k == part / several) before = total;
            total = op(total, slots[turn][k * width + point]);
        }
        if (width < 32 && lane >= width) before = op(before, own);
        if (blocks == 1) return before;
        const T *const theirs = of_blocks(total);
        T earlier = total = Op::start();
#pragma unroll 1
        for (int k = 0; k < blocks; ++k) {
            if (k == block) earlier = total;
            total = op(total, theirs[k * width]);
        }
        return op(earlier, before);
    }
    struct Any {
        static __device__ bool start() { return false; }
        __device__ bool operator()(const bool a, const bool b) const { return a | b; }
    };
    __device__ bool any(const bool value) { return reduce(value, Any()); }
    __device__ bool all(const bool value) { return !reduce(!value, Any()); }
};
"""

GRID = r"""
// All blocks of a cooperative launch working together. `memory`: 16 bytes for the barrier, zero at first and after,
// then two rows of 16 bytes a block.
struct Grid {
    Block block;
    Meeting meeting;
    unsigned turn = 0;
    unsigned char *rows;
    __device__ explicit Grid(unsigned char *memory) : meeting((unsigned *)memory, gridDim.x), rows(memory + 16) {}
    __device__ int rank() const { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ int size() const { return gridDim.x * blockDim.x; }
    __device__ int warp() const { return rank() / 32; }
    __device__ int warps() const { return size() / 32; }
    __device__ long long start(const long long low) const { return low + ((rank() - low) & (size() - 1)); }
    __device__ void sync() { meeting.meet(); }
    __device__ void leave() { meeting.leave(); }
    // The row of one value a block that is not in use by a slower block.
    template <class T>
    __device__ T *next_row() {
        turn ^= 1;
        return (T *)(rows + turn * 16 * gridDim.x);
    }
"""

GRID_PARTS = {
    "reduce": r"""
    template <class T, class Op>
    __device__ T reduce(T value, const Op op) {
        T *row = next_row<T>();
        value = block.reduce(value, op);
        if (threadIdx.x == 0) row[blockIdx.x] = value;
        sync();
        value = Op::start();
        if (threadIdx.x < gridDim.x) value = row[threadIdx.x];
        return block.reduce(value, op);
    }
    __device__ bool any(const bool value) { return reduce(value, Or()); }
    __device__ bool all(const bool value) { return !reduce(!value, Or()); }
    template <class T>
    __device__ T from(const T value, const int rank_of) {
        T *row = next_row<T>();
        if (rank() == rank_of) row[0] = value;
        sync();
        return row[0];
    }
""",
    "fold": r"""
    __device__ bool leads() const { return blockIdx.x == 0; }
    __device__ Block &first() { return block; }
""",
    "search": r"""
    __device__ int highest(const bool here) { return reduce(here ? rank() : -1, Larger()); }
    __device__ int lowest(const bool here) { return (int)reduce(here ? (unsigned)rank() : 0xffffffffu, Smaller()); }
""",
    "scan": r"""
    template <class T, class Op>
    __device__ T scan(const T value, const Op op, T &total) {
        T *row = next_row<T>();
        T own_total;
        const T own = block.scan(value, op, own_total);
        if (threadIdx.x == 0) row[blockIdx.x] = own_total;
        sync();
        T others = Op::start();
        if (threadIdx.x < gridDim.x) others = row[threadIdx.x];
        const T before = block.scan(others, op, total);
        return op(block.from(before, blockIdx.x), own);
    }
""",
    "place": r"""
    __device__ int place(const bool keep, int &total) {
        int *row = next_row<int>();
        int kept;
        const int own = block.place(keep, kept);
        if (threadIdx.x == 0) row[blockIdx.x] = kept;
        sync();
        const int count = threadIdx.x < gridDim.x ? row[threadIdx.x] : 0;
        total = block.reduce(count, Plus());
        return own + block.reduce(threadIdx.x < blockIdx.x ? count : 0, Plus());
    }
""",
    "places": r"""
    template <int EACH>
    __device__ int places(const bool (&keep)[EACH], int (&before)[EACH], int &total) {
        int *row = next_row<int>();
        int kept;
        const int own = block.places(keep, before, kept);
        if (threadIdx.x == 0) row[blockIdx.x] = kept;
        sync();
        const int count = threadIdx.x < gridDim.x ? row[threadIdx.x] : 0;
        total = block.reduce(count, Plus());
        return own + block.reduce(threadIdx.x < blockIdx.x ? count : 0, Plus());
    }
""",
}

GRID_OPS = r"""
struct Larger {
    static __device__ int start() { return -1; }
    __device__ int operator()(const int a, const int b) const { return a > b ? a : b; }
};
struct Smaller {
    static __device__ unsigned start() { return 0xffffffffu; }
    __device__ unsigned operator()(const unsigned a, const unsigned b) const { return a < b ? a : b; }
};
struct Plus {
    static __device__ int start() { return 0; }
    __device__ int operator()(const int a, const int b) const { return a + b; }
};
struct Or {
    static __device__ bool start() { return false; }
    __device__ bool operator()(const bool a, const bool b) const { return a | b; }
};
"""
