// The simulated machine: its threads, warps and blocks, what runs and what waits, what the sanitizers are told of it,
// and how a launch ends with an error. One file includes this, runtime.cpp: the state is static.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fiber.h"
#include "runtime.h"

#if defined(TRANSKERN_ADDRESS)
#include <sanitizer/common_interface_defs.h>
#elif defined(TRANSKERN_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

namespace transkern_sim {
namespace {

#if defined(TRANSKERN_ADDRESS) || defined(TRANSKERN_THREAD)
constexpr size_t STACK_BYTES = 256 << 10;  // instrumented frames are large
#else
constexpr size_t STACK_BYTES = 128 << 10;
#endif
// Stacks at a power of two would all use the same few sets of the cache.
constexpr size_t STACK_STRIDE = STACK_BYTES + 4096 + 192;
constexpr size_t STACKS_A_CHUNK = 512;
constexpr size_t GUARD_BYTES = 256 << 10;  // below each chunk
constexpr size_t CHUNK_BYTES = GUARD_BYTES + STACKS_A_CHUNK * STACK_STRIDE;
constexpr size_t KEPT_STACKS = 8 * STACKS_A_CHUNK;
constexpr uint64_t CANARY = 0x7472616E736B6572ull;
constexpr int SPIN_BUDGET = 4096;      // atomics between two yields
constexpr long IDLE_LIMIT = 1l << 27;  // yields without any other progress: a second or two
constexpr size_t STATIC_SHARED_LIMIT = 48 << 10;
constexpr size_t SHARED_LIMIT = 227 << 10;
#if defined(TRANSKERN_THREAD)
constexpr size_t FIBERS_LIMIT = 3072;  // at once: 0.8 MB each; ThreadSanitizer has room for 8128
#endif

// ---- threads, warps, blocks ----------------------------------------------------------------------------------------

struct Block;
struct Group;

struct Fiber {
    Context context;
    Fiber* next;
    Block* block;
    uint3 thread;
    unsigned number;             // within the block
    const char* name = nullptr;  // what it waits at; null while it runs or is ready
    int line;
    char* stack = nullptr;
    size_t stack_bytes = STACK_BYTES;
    void* fake_stack = nullptr;  // AddressSanitizer's
    void* shadow = nullptr;      // ThreadSanitizer's

    unsigned lane() const { return number % LANES; }
};

struct List {
    Fiber *head = nullptr, *tail = nullptr;

    void push(Fiber* fiber) {
        fiber->next = nullptr;
        (head ? tail->next : head) = fiber;
        tail = fiber;
    }
    Fiber* pop() {
        Fiber* first = head;
        if (first) head = first->next;
        return first;
    }
    void take(List& other) {
        if (!other.head) return;
        (head ? tail->next : head) = other.head;
        tail = other.tail;
        other.head = nullptr;
    }
};

struct Barrier {
    List waiting;
    unsigned arrived = 0, votes = 0, left = 0, parity = 0;
    unsigned result[2] = {};
    const Fiber* first = nullptr;
    // By parity: a fiber that has passed one barrier and come to the next must order nothing for those still leaving
    // the first.
    uint64_t tags[2] = {};
};

struct Group : Exchange {
    unsigned mask, readers;
    const Fiber* first;
    List waiting;
    Group* next;
    uint64_t tag;
};

struct Warp {
    unsigned live = 0;
    Group *open = nullptr, *unused = nullptr;
    std::deque<Group> groups;
};

struct Variable {
    const void* key;
    char* address;
    size_t bytes;
};

struct Block {
    uint3 index;
    Barrier barrier;
    std::vector<Warp> warps;
    std::vector<Variable> variables;  // the first is the dynamic one
    size_t static_bytes = 0;
};

const Kernel* kernel;
void** arguments;
bool cooperative;
size_t dynamic_bytes;
unsigned block_threads;
uint64_t grid_threads;

Fiber host;  // who launched
Fiber* current = &host;
Block* block;
List ready;
Barrier grid;
std::deque<Fiber> fibers;
size_t fiber_count;  // of this launch
size_t unfinished;
long idle;  // yields since the last progress
std::vector<std::unique_ptr<Block>> blocks;

std::string error;
bool failed;
jmp_buf escape;

// ---- what the sanitizers are told ----------------------------------------------------------------------------------

#if defined(TRANSKERN_THREAD)
uint64_t launch_tag, end_tag;
size_t destroyed;  // so many of this launch's fibers ThreadSanitizer has forgotten

struct Fences {
    bool released = false;         // a fence came before: later atomics publish
    std::vector<void*> observed;   // atomics read since the last fence
};
std::map<const Fiber*, Fences> fences;

void release(uint64_t& tag) { __tsan_release(&tag); }
void acquire(uint64_t& tag) { __tsan_acquire(&tag); }

// Past ThreadSanitizer's view: it takes an allocation for a write by the thread that happens to come first.
char* allocate(size_t bytes, size_t) {
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    const long address = syscall(SYS_mmap, nullptr, bytes + 1, protection, flags, -1, 0);
    if (address == -1) abort();
    return reinterpret_cast<char*>(address);
}
void deallocate(char* address, size_t bytes) { syscall(SYS_munmap, address, bytes + 1); }

// Not memset, which would be a write by the current thread.
void poison_memory(char* address, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) static_cast<volatile char*>(address)[i] = static_cast<char>(POISON);
}
#else
void release(uint64_t&) {}
void acquire(uint64_t&) {}

// An allocation for each variable: AddressSanitizer sees where it ends.
char* allocate(size_t bytes, size_t alignment) {
    void* address;
    if (posix_memalign(&address, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes)) abort();
    return static_cast<char*>(address);
}
void deallocate(char* address, size_t) { free(address); }
void poison_memory(char* address, size_t bytes) { memset(address, static_cast<char>(POISON), bytes); }
#endif

void switch_to(Fiber* next) {
    Fiber* self = current;
    current = next;
    thread_index = next->thread;
    if (next->block != block && next->block) {  // the host has none
        block = next->block;
        block_index = block->index;
    }
    if (Fiber* soon = ready.head) {  // its fields came into the cache one switch ago
        soon->context.prefetch();
        if (soon->next) __builtin_prefetch(soon->next);
    }
#if defined(TRANSKERN_ADDRESS)
    __sanitizer_start_switch_fiber(&self->fake_stack, next->stack, next->stack_bytes);
#elif defined(TRANSKERN_THREAD)
    __tsan_switch_to_fiber(next->shadow, __tsan_switch_to_fiber_no_sync);
#endif
    exchange(self->context, next->context);
#if defined(TRANSKERN_ADDRESS)
    __sanitizer_finish_switch_fiber(self->fake_stack, nullptr, nullptr);
#endif
}

// ---- errors --------------------------------------------------------------------------------------------------------

__attribute__((format(printf, 1, 2))) std::string format(const char* text, ...) {
    char buffer[512];
    va_list list;
    va_start(list, text);
    vsnprintf(buffer, sizeof buffer, text, list);
    va_end(list);
    return buffer;
}

std::string describe(const uint3& index) { return format("(%u, %u, %u)", index.x, index.y, index.z); }

std::string place(const Fiber& fiber) { return format("%s in line %d", fiber.name, fiber.line); }

// Ends the launch: the fibers stay where they are, and their stacks are used anew by the next launch.
[[noreturn]] void abandon(std::string message) {
    error = std::move(message);
    failed = true;
    if (current == &host) longjmp(escape, 1);
    switch_to(&host);
    abort();
}

[[noreturn]] void stack_overflow() {
    abandon(format("stack overflow: the kernel's local variables take more than %zu KB a thread", STACK_BYTES >> 10));
}

[[noreturn]] void deadlock() {
    struct Waiting { unsigned count; const Fiber* first; };
    std::map<std::tuple<int, std::string>, Waiting> places;
    for (size_t i = 0; i < fiber_count; i++)
        if (fibers[i].name) {
            auto found = places.try_emplace({fibers[i].line, fibers[i].name}, Waiting{0, &fibers[i]});
            found.first->second.count++;
        }
    std::string message = "deadlock:";
    for (const auto& [key, waiting] : places)
        message += format(" %u thread(s) wait at %s, the first is thread %s of block %s;", waiting.count,
                          place(*waiting.first).c_str(), describe(waiting.first->thread).c_str(),
                          describe(waiting.first->block->index).c_str());
    message.pop_back();
    abandon(message);
}

// Suspends the running fiber in `list` until somebody moves that list to the ready one.
void wait(List& list) {
    list.push(current);
    Fiber* next = ready.pop();
    if (!next) deadlock();
    switch_to(next);
    current->name = nullptr;
}

void note(int line, const char* name) {
    current->line = line;
    current->name = name;
}

}  // namespace
}  // namespace transkern_sim
