// The scheduler: CUDA threads as fibers on one thread of the operating system.
//
// A fiber that has to wait hands over directly to the next ready one; whoever completes a barrier moves all that wait
// there to the ready list in one step. The blocks of a normal launch run one after another, those of a cooperative
// launch are all resident. No ready fiber while some wait is a deadlock, and becomes an error with the positions.
//
// Built three ways: plain, with TRANSKERN_ADDRESS, with TRANSKERN_THREAD. The sanitizers instrument the kernel's file,
// never this one; here they are only told of stack switches (both) and of what CUDA orders (ThreadSanitizer).
#include <signal.h>

#include "machine.h"

// Barriers of blocks that were passed, once for each block; who counts sets it to 0.
extern "C" __attribute__((visibility("default"))) uint64_t transkern_sim_barriers;
uint64_t transkern_sim_barriers;

namespace transkern_sim {

uint3 thread_index, block_index;
dim3 block_size, grid_size;
int spin_budget;

namespace {

// ---- barriers of a block and of the grid ---------------------------------------------------------------------------

unsigned arrive(Barrier& barrier, uint64_t size, bool vote, int line, const char* name) {
    note(line, name);
    if (barrier.left)
        abandon(format("divergent barrier: thread %s of block %s waits at %s, after %u of the %llu threads have left "
                       "the kernel", describe(thread_index).c_str(), describe(block_index).c_str(),
                       place(*current).c_str(), barrier.left, static_cast<unsigned long long>(size)));
    if (barrier.arrived == 0) barrier.first = current;
    else if (barrier.first->line != line || barrier.first->name != name)
        abandon(format("divergent barrier in block %s: thread %s waits at %s, thread %s at %s",
                       describe(block_index).c_str(), describe(barrier.first->thread).c_str(),
                       place(*barrier.first).c_str(), describe(thread_index).c_str(), place(*current).c_str()));
    const unsigned parity = barrier.parity;
    release(barrier.tags[parity]);
    barrier.votes += vote;
    if (++barrier.arrived == size) {
        barrier.result[parity] = barrier.votes;
        barrier.arrived = barrier.votes = 0;
        barrier.parity ^= 1;
        transkern_sim_barriers++;
        ready.take(barrier.waiting);
        current->name = nullptr;
        idle = 0;
    } else {
        wait(barrier.waiting);
    }
    acquire(barrier.tags[parity]);
    return barrier.result[parity];
}

void leave(Barrier& barrier, uint64_t size) {
    barrier.left++;
    if (barrier.arrived)
        abandon(format("divergent barrier: thread %s of block %s left the kernel, while %u of the %llu threads wait: "
                       "thread %s of block %s at %s", describe(thread_index).c_str(), describe(block_index).c_str(),
                       barrier.arrived, static_cast<unsigned long long>(size),
                       describe(barrier.first->thread).c_str(), describe(barrier.first->block->index).c_str(),
                       place(*barrier.first).c_str()));
}

// ---- warp collectives ----------------------------------------------------------------------------------------------

Warp& warp() { return block->warps[current->number / LANES]; }

Group& open_group(Warp& warp, unsigned mask) {
    if (!warp.unused) {
        warp.groups.emplace_back();
        warp.unused = &warp.groups.back();
        warp.unused->next = nullptr;
    }
    Group& group = *warp.unused;
    warp.unused = group.next;
    group.mask = mask;
    group.arrived = group.votes = group.readers = 0;
    group.first = current;
    group.next = warp.open;
    return *(warp.open = &group);
}

bool complete(Warp& warp, Group** link) {
    Group& group = **link;
    if ((group.mask & warp.live) & ~group.arrived) return false;
    *link = group.next;
    group.readers = static_cast<unsigned>(__builtin_popcount(group.arrived));
    ready.take(group.waiting);
    idle = 0;
    return true;
}

// ---- the life of a fiber -------------------------------------------------------------------------------------------

void leave_kernel() {
    if (*reinterpret_cast<uint64_t*>(current->stack) != CANARY) stack_overflow();
    leave(block->barrier, block_threads);
    if (cooperative) leave(grid, grid_threads);
    Warp& mine = warp();
    mine.live &= ~(1u << current->lane());
    for (Group** link = &mine.open; *link;)  // collectives do not wait for lanes that have left
        if (!complete(mine, link)) link = &(*link)->next;
    idle = 0;
    unfinished--;
    Fiber* next = ready.pop();
    if (!next && unfinished) deadlock();
    switch_to(next ? next : &host);
    abort();
}

void fiber_main() {
#if defined(TRANSKERN_ADDRESS)
    const void* bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
    if (!host.stack) {
        // The first fiber ever is started by the host: these are the host's bounds.
        host.stack = static_cast<char*>(const_cast<void*>(bottom));
        host.stack_bytes = bytes;
    }
#elif defined(TRANSKERN_THREAD)
    acquire(launch_tag);
#endif
    kernel->thread(arguments);
#if defined(TRANSKERN_THREAD)
    release(end_tag);
#endif
    leave_kernel();
}

void reserve_fibers(size_t count) {
    while (fibers.size() < count) {
        char* chunk = static_cast<char*>(mmap(nullptr, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (chunk == MAP_FAILED) abandon(format("no memory for the stacks of %zu threads", count));
        // The first stack overflows into this; the others into their neighbour, where the canary tells.
        mprotect(chunk, GUARD_BYTES, PROT_NONE);
        for (size_t i = 0; i < STACKS_A_CHUNK; i++) {
            fibers.emplace_back();
            fibers.back().stack = chunk + GUARD_BYTES + i * STACK_STRIDE;
        }
    }
}

// After a very large cooperative launch: only the stacks of a usual one stay in memory.
void trim_stacks() {
    if (fiber_count <= KEPT_STACKS) return;
    for (size_t i = KEPT_STACKS; i < fiber_count; i += STACKS_A_CHUNK)
        madvise(fibers[i].stack - GUARD_BYTES, CHUNK_BYTES, MADV_DONTNEED);
}

void start_fiber(Fiber& fiber, Block& home, unsigned number) {
    fiber.block = &home;
    fiber.number = number;
    fiber.thread = {number % block_size.x, number / block_size.x % block_size.y,
                    number / (block_size.x * block_size.y)};
    fiber.name = nullptr;
    fiber.fake_stack = nullptr;
    *reinterpret_cast<uint64_t*>(fiber.stack) = CANARY;
    fiber.context.prepare(fiber.stack, STACK_BYTES, fiber_main);
#if defined(TRANSKERN_THREAD)
    fiber.shadow = __tsan_create_fiber(0);
    const std::string name = "thread " + describe(fiber.thread) + " of block " + describe(home.index);
    __tsan_set_fiber_name(fiber.shadow, name.c_str());
#endif
    home.warps[number / LANES].live |= 1u << number % LANES;
    ready.push(&fiber);
}

// ---- blocks and launches -------------------------------------------------------------------------------------------

std::unique_ptr<Block> make_block(const uint3& index) {
    auto made = std::make_unique<Block>();
    made->index = index;
    made->warps = std::vector<Warp>((block_threads + LANES - 1) / LANES);
    made->variables.reserve(64);  // what moves memory is seen by ThreadSanitizer: these are declared by any thread
    made->variables.push_back({nullptr, allocate(dynamic_bytes, 128), dynamic_bytes});
    poison_memory(made->variables[0].address, dynamic_bytes);
    return made;
}

#if !defined(TRANSKERN_THREAD)
// A block's shared memory holds nothing of the block that was there before.
void restart_block(Block& old, const uint3& index) {
    old.index = index;
    old.barrier = Barrier();
    for (const Variable& variable : old.variables) poison_memory(variable.address, variable.bytes);
}
#endif

void drop_blocks() {
    for (const auto& old : blocks)
        for (const Variable& variable : old->variables) deallocate(variable.address, variable.bytes);
    blocks.clear();
}

uint3 index_of(uint64_t number) {
    return {static_cast<unsigned>(number % grid_size.x), static_cast<unsigned>(number / grid_size.x % grid_size.y),
            static_cast<unsigned>(number / (uint64_t(grid_size.x) * grid_size.y))};
}

void run_fibers(size_t count) {
    unfinished = count;
    block = nullptr;  // a block's memory may be the last one's, under another index
    switch_to(ready.pop());
}

// ThreadSanitizer forgets the oldest fibers, until `kept` are left. Their stacks are not used again in this launch: to
// it they are memory that threads share.
void destroy_shadows([[maybe_unused]] size_t kept) {
#if defined(TRANSKERN_THREAD)
    for (; destroyed + kept < fiber_count; destroyed++) __tsan_destroy_fiber(fibers[destroyed].shadow);
#endif
}

void run_cooperative() {
#if defined(TRANSKERN_THREAD)
    if (grid_threads > FIBERS_LIMIT)
        abandon(format("a cooperative launch of %llu threads: with ThreadSanitizer the limit is %zu",
                       static_cast<unsigned long long>(grid_threads), FIBERS_LIMIT));
#endif
    reserve_fibers(grid_threads);
    const uint64_t count = uint64_t(grid_size.x) * grid_size.y * grid_size.z;
    for (uint64_t i = 0; i < count; i++) {
        blocks.push_back(make_block(index_of(i)));
        for (unsigned t = 0; t < block_threads; t++) start_fiber(fibers[fiber_count++], *blocks.back(), t);
    }
    run_fibers(fiber_count);
    destroy_shadows(0);
}

void run_blocks() {
    const uint64_t count = uint64_t(grid_size.x) * grid_size.y * grid_size.z;
#if defined(TRANSKERN_THREAD)
    // Each block has threads, barriers and memory of its own: with those of an earlier block, the races between the
    // two would not be seen. Only what does not fit is dropped.
    for (uint64_t i = 0; i < count && !failed; i++) {
        destroy_shadows(FIBERS_LIMIT - block_threads);
        reserve_fibers(fiber_count + block_threads);
        blocks.push_back(make_block(index_of(i)));
        for (unsigned t = 0; t < block_threads; t++) start_fiber(fibers[fiber_count++], *blocks.back(), t);
        run_fibers(block_threads);
    }
    destroy_shadows(0);
#else
    blocks.push_back(make_block(index_of(0)));
    Block& home = *blocks.back();
    const bool plain = kernel->block;
    if (!plain) reserve_fibers(block_threads);
    for (uint64_t i = 0; i < count && !failed; i++) {
        if (i) restart_block(home, index_of(i));
        if (plain) {
            block = &home;
            block_index = home.index;
            kernel->block(arguments);
            continue;
        }
        for (unsigned t = 0; t < block_threads; t++) start_fiber(fibers[t], home, t);
        fiber_count = block_threads;
        run_fibers(block_threads);
    }
#endif
}

#if !defined(TRANSKERN_ADDRESS) && !defined(TRANSKERN_THREAD)
void on_signal(int number, siginfo_t* info, void*) {
    const std::string where = "thread " + describe(thread_index) + " of block " + describe(block_index);
    if (number == SIGFPE) abandon("integer division by zero in " + where);
    if (current != &host && current->stack - static_cast<char*>(info->si_addr) <= static_cast<long>(GUARD_BYTES) &&
        info->si_addr < current->stack)
        stack_overflow();
    abandon(format("memory fault at address %p in %s; check(..., kind=\"memory\") names the line", info->si_addr,
                   where.c_str()));
}

// The process lives on after a kernel's fault; outside a launch the handlers are the process's own.
struct Signals {
    static constexpr int NUMBERS[] = {SIGFPE, SIGSEGV, SIGBUS};
    static inline char stack[64 << 10];
    struct sigaction before[3];
    stack_t stack_before;

    Signals() {
        struct sigaction mine = {};
        mine.sa_sigaction = on_signal;
        mine.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
        // The fault may be that the stack is full.
        stack_t own = {};
        own.ss_sp = stack;
        own.ss_size = sizeof stack;
        sigaltstack(&own, &stack_before);
        for (int i = 0; i < 3; i++) sigaction(NUMBERS[i], &mine, &before[i]);
    }
    ~Signals() {
        for (int i = 0; i < 3; i++) sigaction(NUMBERS[i], &before[i], nullptr);
        sigaltstack(&stack_before, nullptr);
    }
};
#else
struct Signals {};  // the sanitizers have their own
#endif

}  // namespace

// ---- what the kernel's text calls (runtime.h) ----------------------------------------------------------------------

void fail(const char* message, int line) {
    abandon(format("%s in line %d, thread %s of block %s", message, line, describe(thread_index).c_str(),
                   describe(block_index).c_str()));
}

unsigned block_barrier(bool vote, int line, const char* name) {
    return arrive(block->barrier, block_threads, vote, line, name);
}

void grid_barrier(int line) {
    if (!cooperative) fail("grid.sync() needs a cooperative launch", line);
    arrive(grid, grid_threads, false, line, "grid.sync()");
}

bool is_cooperative() { return cooperative; }

const Exchange& enter(unsigned mask, uint64_t value, bool orders, int line, const char* name) {
    const unsigned bit = 1u << current->lane();
    note(line, name);
    if (!(mask & bit)) fail("a lane that is not in the mask of the warp collective", line);
    Warp& mine = warp();
    Group** link = &mine.open;
    while (*link && ((*link)->mask != mask || (*link)->arrived & bit)) link = &(*link)->next;
    if (!*link) open_group(mine, mask), link = &mine.open;
    Group& group = **link;
    if (group.first->line != line || group.first->name != name)
        abandon(format("divergent warp in block %s: thread %s waits at %s, thread %s at %s",
                       describe(block_index).c_str(), describe(group.first->thread).c_str(),
                       place(*group.first).c_str(), describe(thread_index).c_str(), place(*current).c_str()));
    group.values[current->lane()] = value;
    group.arrived |= bit;
    if (value) group.votes |= bit;
    if (orders) release(group.tag);
    if (complete(mine, link)) current->name = nullptr;
    else wait(group.waiting);
    if (orders) acquire(group.tag);
    return group;
}

void leave(const Exchange& exchange) {
    Group& group = static_cast<Group&>(const_cast<Exchange&>(exchange));
    if (--group.readers) return;
    group.next = warp().unused;
    warp().unused = &group;
}

unsigned lane() { return current->lane(); }

unsigned live_lanes() { return warp().live; }

void yield() {
    spin_budget = SPIN_BUDGET;
    if (current == &host) return;
    if (++idle > IDLE_LIMIT)
        abandon(format("livelock: thread %s of block %s and all others that run only wait for each other's writes%s",
                       describe(thread_index).c_str(), describe(block_index).c_str(),
                       cooperative ? "" : " (blocks wait for each other in cooperative launches only)"));
    if (!ready.head) return;
    ready.push(current);
    switch_to(ready.pop());
}

void* shared_variable(const void* key, size_t size, size_t alignment) {
    for (const Variable& variable : block->variables)
        if (variable.key == key) return variable.address;
    block->static_bytes += size;
    if (block->static_bytes > STATIC_SHARED_LIMIT)
        abandon(format("%zu bytes of static shared memory: the limit is 48 KB", block->static_bytes));
    if (block->static_bytes + dynamic_bytes > SHARED_LIMIT)
        abandon(format("%zu bytes of shared memory: the limit is 227 KB", block->static_bytes + dynamic_bytes));
    block->variables.push_back({key, allocate(size, alignment), size});
    poison_memory(block->variables.back().address, size);
    return block->variables.back().address;
}

void* dynamic_shared() { return block->variables[0].address; }

#if defined(TRANSKERN_THREAD)
// CUDA's atomics are relaxed. Order comes from fences: what precedes a fence is seen by who reads a later atomic of
// the same thread and then makes a fence of its own.
void publish(void* address) {
    if (fences[current].released) __tsan_release(address);
}

void observe(void* address) {
    std::vector<void*>& observed = fences[current].observed;
    for (void* seen : observed)
        if (seen == address) return;
    observed.push_back(address);
}

void fence() {
    Fences& mine = fences[current];
    mine.released = true;
    for (void* seen : mine.observed) __tsan_acquire(seen);
    mine.observed.clear();
}
#else
void publish(void*) {}
void observe(void*) {}
void fence() { asm volatile("" ::: "memory"); }
#endif

}  // namespace transkern_sim

#if defined(TRANSKERN_THREAD)
// A volatile access is a relaxed atomic one (-param tsan-distinguish-volatile=1): spinning on it is no race. These see
// the access before it is made, so that a write is shown as one that leaves the value.
#define TRANSKERN_VOLATILE(bytes, bits)                                                                 \
    extern "C" uint##bits##_t __tsan_atomic##bits##_load(const volatile void*, int);                    \
    extern "C" uint##bits##_t __tsan_atomic##bits##_fetch_or(volatile void*, uint##bits##_t, int);      \
    extern "C" void __tsan_volatile_read##bytes(void* address) {                                        \
        __tsan_atomic##bits##_load(address, __ATOMIC_RELAXED);                                          \
        transkern_sim::observe(address);                                                                \
    }                                                                                                   \
    extern "C" void __tsan_volatile_write##bytes(void* address) {                                       \
        transkern_sim::publish(address);                                                                \
        __tsan_atomic##bits##_fetch_or(address, 0, __ATOMIC_RELAXED);                                   \
    }
TRANSKERN_VOLATILE(1, 8)
TRANSKERN_VOLATILE(2, 16)
TRANSKERN_VOLATILE(4, 32)
TRANSKERN_VOLATILE(8, 64)
#endif

// ---- what the launcher calls ---------------------------------------------------------------------------------------

extern "C" const char* transkern_sim_error() { return transkern_sim::error.c_str(); }

// `sizes`: the grid's x, y, z and the block's. Returns 0, or 1 with a message in `transkern_sim_error`.
extern "C" int transkern_sim_launch(const transkern_sim::Kernel* kernel, const unsigned* sizes, size_t shared_bytes,
                                    int cooperative, void** arguments) {
    using namespace transkern_sim;
    transkern_sim::kernel = kernel;
    transkern_sim::arguments = arguments;
    transkern_sim::cooperative = cooperative;
    grid_size = dim3(sizes[0], sizes[1], sizes[2]);
    block_size = dim3(sizes[3], sizes[4], sizes[5]);
    block_threads = block_size.x * block_size.y * block_size.z;
    grid_threads = uint64_t(block_threads) * grid_size.x * grid_size.y * grid_size.z;
    dynamic_bytes = shared_bytes;
    spin_budget = SPIN_BUDGET;
    idle = 0;
    fiber_count = 0;
    failed = false;
    ready = List();
    grid = Barrier();
    current = &host;
    block = nullptr;
    drop_blocks();
#if defined(TRANSKERN_THREAD)
    host.shadow = __tsan_get_current_fiber();
    fences.clear();
    destroyed = 0;
    release(launch_tag);
#endif
    [[maybe_unused]] Signals signals;
    if (!setjmp(escape)) {
        if (cooperative) run_cooperative();
        else run_blocks();
    }
#if defined(TRANSKERN_THREAD)
    acquire(end_tag);
#endif
    drop_blocks();
    trim_stacks();
    return failed;
}
