// CUDA's execution model for kernel text that is compiled by a C++ compiler: included before the text.
//
// A CUDA thread is a fiber (runtime.cpp); all run on one thread of the operating system, so nothing is preempted: a
// thread gives way only at a barrier, a warp collective, __nanosleep, or after many atomics in a row. `source.py` has
// rewritten the declarations of __shared__ variables; everything else of the text is as it was.
// The defaults `line = __builtin_LINE()` give the line of the caller, which errors name.
#pragma once

// The standard headers come before the macros below: they use some of the same words as attributes.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())

#include "intrinsics.h"

namespace transkern_sim {

constexpr unsigned LANES = 32;
constexpr uint64_t POISON = 0xCDCDCDCDCDCDCDCDull;  // what is read where CUDA leaves the value undefined

extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;
extern int spin_budget;

// What the lanes of one warp hand each other: `values` by lane, `arrived` the lanes that took part, `votes` those of
// them whose value is not zero.
struct Exchange {
    uint64_t values[LANES];
    unsigned arrived;
    unsigned votes;
};

[[noreturn]] void fail(const char* message, int line);
unsigned block_barrier(bool vote, int line, const char* name);  // returns how many threads voted
void grid_barrier(int line);
bool is_cooperative();
// Waits for the lanes of `mask`. The result stays valid until `leave`. `orders`: it is a memory barrier as well.
const Exchange& enter(unsigned mask, uint64_t value, bool orders, int line, const char* name);
void leave(const Exchange& exchange);
unsigned lane();
unsigned live_lanes();
void yield();
void* shared_variable(const void* key, size_t size, size_t alignment);
void* dynamic_shared();

// ThreadSanitizer is told what atomic and volatile accesses order, together with fences; no other build needs it.
void publish(void* address);
void observe(void* address);
void fence();

// One static key a declaration: each lambda expression, and each instantiation of it, has a type of its own.
template <class T, size_t ALIGNMENT, class Unique>
T& shared(Unique) {
    static char key;
    return *static_cast<T*>(shared_variable(&key, sizeof(T), ALIGNMENT > alignof(T) ? ALIGNMENT : alignof(T)));
}

template <class T>
T poison() {
    T value;
    memcpy(&value, &POISON, sizeof value);
    return value;
}

// What is exchanged is the simulator's own business: ThreadSanitizer is not to see it.
#define TRANSKERN_UNSEEN __attribute__((no_sanitize("thread")))

// The value of lane `source`; the own one where `source` is outside the segment.
template <class T>
TRANSKERN_UNSEEN T shuffle(unsigned mask, T value, int source, bool inside, int line, const char* name) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    const Exchange& all = enter(mask, bits, false, line, name);
    if (inside) {
        if (all.arrived >> source & 1) memcpy(&value, &all.values[source], sizeof value);
        else value = poison<T>();
    }
    leave(all);
    return value;
}

template <class T, class Combine>
TRANSKERN_UNSEEN T reduce(unsigned mask, T value, Combine combine, int line, const char* name) {
    const Exchange& all = enter(mask, static_cast<uint64_t>(value), false, line, name);
    T result = value;
    bool first = true;
    for (unsigned i = 0; i < LANES; i++) {
        if (!(all.arrived >> i & 1)) continue;
        result = first ? static_cast<T>(all.values[i]) : combine(result, static_cast<T>(all.values[i]));
        first = false;
    }
    leave(all);
    return result;
}

// A thread that waits for another by atomics alone has to give way now and then.
TRANSKERN_UNSEEN inline void spin() {
    if (--spin_budget <= 0) yield();
}

template <class T, class Update>
T atomic_update(T* address, Update update) {
#ifdef __SANITIZE_THREAD__
    publish(address);
    observe(address);
    T old, desired;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do desired = update(old);
    while (!__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
#else
    T old = *address;
    *address = update(old);
#endif
    spin();
    return old;
}

}  // namespace transkern_sim

static const uint3& threadIdx = transkern_sim::thread_index;
static const uint3& blockIdx = transkern_sim::block_index;
static const dim3& blockDim = transkern_sim::block_size;
static const dim3& gridDim = transkern_sim::grid_size;
constexpr int warpSize = 32;

#undef assert
#define assert(condition) ((condition) ? (void)0 : ::transkern_sim::fail("assertion failed: " #condition, __LINE__))
inline void __trap(int line = __builtin_LINE()) { transkern_sim::fail("__trap()", line); }

// ---- barriers ------------------------------------------------------------------------------------------------------

inline void __syncthreads(int line = __builtin_LINE()) { transkern_sim::block_barrier(false, line, "__syncthreads()"); }
inline int __syncthreads_count(int predicate, int line = __builtin_LINE()) {
    return static_cast<int>(transkern_sim::block_barrier(predicate != 0, line, "__syncthreads_count()"));
}
inline int __syncthreads_or(int predicate, int line = __builtin_LINE()) {
    return transkern_sim::block_barrier(predicate != 0, line, "__syncthreads_or()") != 0;
}
inline int __syncthreads_and(int predicate, int line = __builtin_LINE()) {
    return transkern_sim::block_barrier(predicate == 0, line, "__syncthreads_and()") == 0;
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, int line = __builtin_LINE()) {
    transkern_sim::leave(transkern_sim::enter(mask, 0, true, line, "__syncwarp()"));
}
inline void __threadfence() { transkern_sim::fence(); }
inline void __threadfence_block() { transkern_sim::fence(); }
inline void __threadfence_system() { transkern_sim::fence(); }
inline void __nanosleep(unsigned) { transkern_sim::yield(); }

// ---- warp collectives ----------------------------------------------------------------------------------------------

inline unsigned __activemask() { return transkern_sim::live_lanes(); }

TRANSKERN_UNSEEN inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    const auto& all = transkern_sim::enter(mask, predicate != 0, false, line, "__ballot_sync()");
    const unsigned votes = all.votes;
    transkern_sim::leave(all);
    return votes;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate == 0, line) == 0;
}

#define TRANSKERN_SHUFFLES(T)                                                                                         \
    inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {          \
        const int first = static_cast<int>(transkern_sim::lane()) & ~(width - 1);                                     \
        return transkern_sim::shuffle(mask, value, first | (source & (width - 1)), true, line, "__shfl_sync()");      \
    }                                                                                                                 \
    inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {    \
        const int lane = static_cast<int>(transkern_sim::lane());                                                     \
        const bool inside = static_cast<unsigned>(lane & (width - 1)) >= delta;                                       \
        return transkern_sim::shuffle(mask, value, inside ? lane - static_cast<int>(delta) : lane, inside, line,      \
                                      "__shfl_up_sync()");                                                            \
    }                                                                                                                 \
    inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {  \
        const int lane = static_cast<int>(transkern_sim::lane());                                                     \
        const bool inside = delta < static_cast<unsigned>(width - (lane & (width - 1)));                              \
        return transkern_sim::shuffle(mask, value, inside ? lane + static_cast<int>(delta) : lane, inside, line,      \
                                      "__shfl_down_sync()");                                                          \
    }                                                                                                                 \
    inline T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32, int line = __builtin_LINE()) {        \
        const int lane = static_cast<int>(transkern_sim::lane()), source = lane ^ other;                              \
        const bool inside = source >= 0 && source <= (lane | (width - 1));                                            \
        return transkern_sim::shuffle(mask, value, inside ? source : lane, inside, line, "__shfl_xor_sync()");        \
    }
TRANSKERN_SHUFFLES(int)
TRANSKERN_SHUFFLES(unsigned)
TRANSKERN_SHUFFLES(long)
TRANSKERN_SHUFFLES(unsigned long)
TRANSKERN_SHUFFLES(long long)
TRANSKERN_SHUFFLES(unsigned long long)
TRANSKERN_SHUFFLES(float)
TRANSKERN_SHUFFLES(double)

#define TRANSKERN_WARP_REDUCTION(T, name, expression)                                                    \
    inline T name(unsigned mask, T value, int line = __builtin_LINE()) {                                 \
        return transkern_sim::reduce(mask, value, [](T a, T b) -> T { return expression; }, line, #name "()"); \
    }
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_add_sync, a + b)
TRANSKERN_WARP_REDUCTION(int, __reduce_add_sync, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_min_sync, a < b ? a : b)
TRANSKERN_WARP_REDUCTION(int, __reduce_min_sync, a < b ? a : b)
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_max_sync, a > b ? a : b)
TRANSKERN_WARP_REDUCTION(int, __reduce_max_sync, a > b ? a : b)
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_and_sync, a & b)
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_or_sync, a | b)
TRANSKERN_WARP_REDUCTION(unsigned, __reduce_xor_sync, a ^ b)

// ---- atomics: they return the old value, and integers wrap ---------------------------------------------------------

#define TRANSKERN_ATOMIC(T, name, expression)                                                  \
    inline T name(T* address, T value) {                                                       \
        return transkern_sim::atomic_update(address, [=]([[maybe_unused]] T old) -> T { return expression; });  \
    }
TRANSKERN_ATOMIC(int, atomicAdd, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
TRANSKERN_ATOMIC(unsigned, atomicAdd, old + value)
TRANSKERN_ATOMIC(unsigned long long, atomicAdd, old + value)
TRANSKERN_ATOMIC(float, atomicAdd, old + value)
TRANSKERN_ATOMIC(double, atomicAdd, old + value)
TRANSKERN_ATOMIC(int, atomicSub, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
TRANSKERN_ATOMIC(unsigned, atomicSub, old - value)
TRANSKERN_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
TRANSKERN_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
#define TRANSKERN_ATOMICS(T)                               \
    TRANSKERN_ATOMIC(T, atomicExch, value)                 \
    TRANSKERN_ATOMIC(T, atomicMin, old < value ? old : value) \
    TRANSKERN_ATOMIC(T, atomicMax, old > value ? old : value) \
    TRANSKERN_ATOMIC(T, atomicAnd, old & value)            \
    TRANSKERN_ATOMIC(T, atomicOr, old | value)             \
    TRANSKERN_ATOMIC(T, atomicXor, old ^ value)            \
    inline T atomicCAS(T* address, T compare, T value) {   \
        return transkern_sim::atomic_update(address, [=](T old) -> T { return old == compare ? value : old; }); \
    }
TRANSKERN_ATOMICS(int)
TRANSKERN_ATOMICS(unsigned)
TRANSKERN_ATOMICS(long long)
TRANSKERN_ATOMICS(unsigned long long)
TRANSKERN_ATOMIC(float, atomicExch, value)

// ---- cooperative groups: the grid and the block --------------------------------------------------------------------

namespace cooperative_groups {

struct thread_block {
    void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
    unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    uint3 group_index() const { return blockIdx; }
    uint3 thread_index() const { return threadIdx; }
};

struct grid_group {
    void sync(int line = __builtin_LINE()) const { transkern_sim::grid_barrier(line); }
    bool is_valid() const { return transkern_sim::is_cooperative(); }
    unsigned long long num_blocks() const { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    unsigned long long block_rank() const {
        return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    unsigned long long size() const { return num_blocks() * thread_block().size(); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const {
        return block_rank() * thread_block().size() + thread_block().thread_rank();
    }
};

inline thread_block this_thread_block() { return {}; }
inline grid_group this_grid() { return {}; }
template <class Group>
void sync(const Group& group, int line = __builtin_LINE()) { group.sync(line); }

}  // namespace cooperative_groups

// ---- the table of kernels, which the launcher reads ----------------------------------------------------------------

namespace transkern_sim {

// A parameter's type: `kind` is NumPy's letter (b, i, u, f; V: a structure, a vector, void), `size` in bytes; of the
// pointed-to type where `pointer`.
struct Parameter {
    char pointer, constant, kind;
    unsigned size;
};

struct Kernel {
    const char* name;
    const Parameter* parameters;
    unsigned count;
    void (*thread)(void** arguments);  // one thread: the indices are set
    void (*block)(void** arguments);   // all threads of a block, one after another; null: the text has barriers
};

template <class T>
constexpr Parameter describe() {
    using Bare = std::remove_cv_t<std::remove_pointer_t<T>>;
    Parameter result{std::is_pointer_v<T>, std::is_const_v<std::remove_pointer_t<T>>, 'V', 0};
    if constexpr (!std::is_void_v<Bare>) result.size = sizeof(Bare);
    if constexpr (std::is_same_v<Bare, bool>) result.kind = 'b';
    else if constexpr (std::is_floating_point_v<Bare> || std::is_same_v<Bare, half>) result.kind = 'f';
    else if constexpr (std::is_integral_v<Bare>) result.kind = std::is_signed_v<Bare> ? 'i' : 'u';
    return result;
}

template <auto KERNEL, class F = decltype(KERNEL)>
struct Launcher;

template <auto KERNEL, class... T>
struct Launcher<KERNEL, void (*)(T...)> {
    static constexpr Parameter parameters[sizeof...(T) + 1] = {describe<T>()..., {}};

    template <size_t... I>
    static void call(void** arguments, std::index_sequence<I...>) {
        KERNEL(*static_cast<T*>(arguments[I])...);
    }
    static void thread(void** arguments) { call(arguments, std::index_sequence_for<T...>()); }
    static void block(void** arguments) {
        for (unsigned z = 0; z < block_size.z; z++)
            for (unsigned y = 0; y < block_size.y; y++)
                for (unsigned x = 0; x < block_size.x; x++) {
                    thread_index = {x, y, z};
                    thread(arguments);
                }
    }
    static constexpr Kernel kernel(const char* name, bool independent) {
        return {name, parameters, sizeof...(T), thread, independent ? block : nullptr};
    }
};

}  // namespace transkern_sim
