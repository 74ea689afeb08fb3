"""What emitted C asks of the operating system: a clock, memory, what it exports; on Linux, macOS and Windows.

What Windows has is declared here, not included: ``windows.h`` takes a compiler longer than a module. Its systems of 64
bits have one calling convention, so that a plain declaration is enough. Where POSIX gives a program more addresses than
there is memory, and memory as pages are touched, Windows gives the addresses, and tells who asks for it of each access
to one without memory (a vectored exception handler): so lists without a bound get theirs.
"""

EXPORTS = r"""
#ifdef _WIN32
#define PY_EXPORT __declspec(dllexport)
#define PY_DATA extern __declspec(dllimport)
#else
#define PY_EXPORT __attribute__((visibility("default")))
#define PY_DATA extern
#endif
"""
"""`PY_EXPORT` stands before what Python looks for in a module, `PY_DATA` before data of Python's own."""


def clock(name: str, kind: str) -> str:
    """A function of `kind` (``static``) that tells the time in nanoseconds, from any moment on."""
    return f"""
#ifdef _WIN32
int QueryPerformanceCounter(int64_t *), QueryPerformanceFrequency(int64_t *);
{kind} int64_t {name}(void) {{
    int64_t now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    return now / second * 1000000000ll + now % second * 1000000000ll / second;
}}
#else
#include <time.h>
{kind} int64_t {name}(void) {{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}}
#endif
"""


ALIGNED = r"""
// Memory that begins at a multiple of a power of two; its size is one of that, too.
#ifdef _WIN32
void *_aligned_malloc(size_t, size_t), _aligned_free(void *);
#define py_aligned(unit, size) _aligned_malloc(size, unit)
#define py_drop_aligned _aligned_free
#else
#define py_aligned(unit, size) aligned_alloc(unit, size)
#define py_drop_aligned free
#endif
"""

MACHINE = r"""
// The bytes of memory that the machine has, and pages of 2 MiB for large arrays, where the system has them.
#ifdef _WIN32
typedef struct { uint32_t length, load; uint64_t total, others[6]; } py_memory_status;
int GlobalMemoryStatusEx(py_memory_status *);
static double py_machine(void) {
    py_memory_status status = {sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.total : 0;
}
static void py_in_huge(void *memory, size_t size) {}
#else
#include <sys/mman.h>
#include <unistd.h>
static double py_machine(void) { return (double)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }
#ifdef __linux__
static void py_in_huge(void *memory, size_t size) { madvise(memory, size, 14); }
#else
static void py_in_huge(void *memory, size_t size) {}
#endif
#endif
"""

ADDRESSES = r"""
// Addresses of which only what is touched becomes memory (all zeros): NULL where there are none.
#ifdef _WIN32
enum { PY_RANGES = 1024, PY_GRAIN = 1 << 16 };
static struct { char *base; size_t size; } py_ranges[PY_RANGES];
typedef struct { uint32_t code, flags; void *next, *address; uint32_t count; uintptr_t about[15]; } py_exception;
typedef struct { py_exception *exception; void *context; } py_exceptions;
void *AddVectoredExceptionHandler(uint32_t, int32_t (*)(py_exceptions *));
void *VirtualAlloc(void *, size_t, uint32_t, uint32_t);
int VirtualFree(void *, size_t, uint32_t);
static int32_t py_touched(py_exceptions *at) {
    if (at->exception->code != 0xc0000005) return 0;  // no access to what is not there: others look after it
    const uintptr_t where = at->exception->about[1] & ~(uintptr_t)(PY_GRAIN - 1);
    for (int k = 0; k < PY_RANGES; ++k) {
        const uintptr_t base = (uintptr_t)__atomic_load_n(&py_ranges[k].base, __ATOMIC_ACQUIRE);
        if (base && where >= base && where - base < py_ranges[k].size)
            return VirtualAlloc((void *)where, PY_GRAIN, 0x1000, 4) ? -1 : 0;  // go on, with memory to read and write
    }
    return 0;
}
static char *py_map(size_t size) {
    static int listens;
    if (!__atomic_exchange_n(&listens, 1, __ATOMIC_ACQ_REL)) AddVectoredExceptionHandler(1, py_touched);
    size = (size + PY_GRAIN - 1) & ~(size_t)(PY_GRAIN - 1);
    char *base = VirtualAlloc(NULL, size, 0x2000, 4);
    for (int k = 0; k < PY_RANGES && base; ++k) {
        char *none = NULL, *taken = (char *)UINTPTR_MAX;  // above all addresses
        if (!__atomic_compare_exchange_n(&py_ranges[k].base, &none, taken, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        py_ranges[k].size = size;
        __atomic_store_n(&py_ranges[k].base, base, __ATOMIC_RELEASE);
        return base;
    }
    if (base) VirtualFree(base, 0, 0x8000);
    return NULL;
}
static void py_unmap(char *base, size_t size) {
    for (int k = 0; k < PY_RANGES; ++k)
        if (__atomic_load_n(&py_ranges[k].base, __ATOMIC_RELAXED) == base) {
            VirtualFree(base, 0, 0x8000);
            __atomic_store_n(&py_ranges[k].base, NULL, __ATOMIC_RELEASE);
            return;
        }
}
static void py_forget(char *base, size_t size) { VirtualFree(base, size, 0x4000); }
#else
#include <sys/mman.h>
static char *py_map(size_t size) {
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}
static void py_unmap(char *base, size_t size) { munmap(base, size); }
static void py_forget(char *base, size_t size) { madvise(base, size, MADV_DONTNEED); }
#endif
"""
"""`py_forget` gives the memory back, and keeps the addresses, all zeros again on Linux and Windows."""
