// OpenMP's runtime as far as the CPU target's code calls it, on threads that ThreadSanitizer sees: four a region.
// (The system's own runtime orders its threads by means that it does not see, and every region would look like a race.)

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREADS = 4, SHARES = 64 };

typedef struct { long next, stop, step, chunk; bool begun; } Share;
typedef struct {
    int count;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    Share shares[SHARES];  // one a loop or `single` that the region meets, in order
    bool single[SHARES];
} Team;
typedef struct { Team *team; int number; void (*function)(void *); void *data; } Member;

static __thread Team *team;
static __thread int number, met, met_single;
static __thread Share *share;
static pthread_mutex_t atomic_lock = PTHREAD_MUTEX_INITIALIZER, critical_lock = PTHREAD_MUTEX_INITIALIZER;

int omp_get_thread_num(void) { return number; }
int omp_get_num_threads(void) { return team ? team->count : 1; }
int omp_get_max_threads(void) { return THREADS; }
void omp_set_num_threads(int wanted) { (void)wanted; }
int omp_get_num_procs(void) { return THREADS; }
int omp_in_parallel(void) { return team && team->count > 1; }

static void *member(void *given) {
    Member *m = given;
    team = m->team, number = m->number, met = met_single = 0;
    m->function(m->data);
    return NULL;
}

static void run(void (*function)(void *), void *data, unsigned wanted, Share *first) {
    Team *outer = team, mine = {.count = outer || wanted == 1 ? 1 : wanted ? (int)wanted : THREADS};
    int outer_number = number, outer_met = met, outer_single = met_single;
    Share *outer_share = share;
    Member members[64];
    pthread_t threads[64];
    if (first) mine.shares[0] = *first;
    pthread_barrier_init(&mine.barrier, NULL, mine.count);
    pthread_mutex_init(&mine.lock, NULL);
    for (int k = 0; k < mine.count; ++k) members[k] = (Member){&mine, k, function, data};
    for (int k = 1; k < mine.count; ++k)
        if (pthread_create(&threads[k], NULL, member, &members[k])) abort();
    member(&members[0]);
    for (int k = 1; k < mine.count; ++k) pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&mine.barrier);
    pthread_mutex_destroy(&mine.lock);
    team = outer, number = outer_number, met = outer_met, met_single = outer_single, share = outer_share;
}

void GOMP_parallel(void (*function)(void *), void *data, unsigned wanted, unsigned flags) {
    (void)flags;
    run(function, data, wanted, NULL);
}

void GOMP_barrier(void) { if (team) pthread_barrier_wait(&team->barrier); }
void GOMP_atomic_start(void) { pthread_mutex_lock(&atomic_lock); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&atomic_lock); }
void GOMP_critical_start(void) { pthread_mutex_lock(&critical_lock); }
void GOMP_critical_end(void) { pthread_mutex_unlock(&critical_lock); }
void GOMP_critical_name_start(void **name) { (void)name; GOMP_critical_start(); }
void GOMP_critical_name_end(void **name) { (void)name; GOMP_critical_end(); }

bool GOMP_single_start(void) {
    if (!team) return true;
    pthread_mutex_lock(&team->lock);
    bool *taken = &team->single[met_single++ % SHARES], first = !*taken;
    *taken = true;
    pthread_mutex_unlock(&team->lock);
    return first;
}

bool GOMP_loop_dynamic_next(long *from, long *to) {
    pthread_mutex_lock(&team->lock);
    long left = (share->stop - share->next + share->step - (share->step > 0 ? 1 : -1)) / share->step;
    bool more = left > 0;
    if (more) {
        *from = share->next;
        *to = share->next + (left < share->chunk ? left : share->chunk) * share->step;
        share->next = *to;
    }
    pthread_mutex_unlock(&team->lock);
    return more;
}

bool GOMP_loop_dynamic_start(long start, long stop, long step, long chunk, long *from, long *to) {
    pthread_mutex_lock(&team->lock);
    share = &team->shares[met++ % SHARES];
    if (!share->begun) *share = (Share){start, stop, step, chunk ? chunk : 1, true};
    pthread_mutex_unlock(&team->lock);
    return GOMP_loop_dynamic_next(from, to);
}

void GOMP_loop_end_nowait(void) {}
void GOMP_loop_end(void) { GOMP_barrier(); }

void GOMP_parallel_loop_dynamic(void (*function)(void *), void *data, unsigned wanted, long start, long stop, long step,
                                long chunk, unsigned flags) {
    (void)flags;
    Share first = {start, stop, step, chunk ? chunk : 1, true};
    // The region's function asks for its first chunk with `next`, so each member's share is set before it.
    struct Begun { void (*function)(void *); void *data; } begun = {function, data};
    extern void gomp_begin(void *);
    run(gomp_begin, &begun, wanted, &first);
}

void gomp_begin(void *given) {
    struct Begun { void (*function)(void *); void *data; } *begun = given;
    share = &team->shares[met++];
    begun->function(begun->data);
}

#define SAME(name) __attribute__((alias(#name)))
SAME(GOMP_loop_dynamic_next) bool GOMP_loop_nonmonotonic_dynamic_next(long *, long *);
SAME(GOMP_loop_dynamic_start) bool GOMP_loop_nonmonotonic_dynamic_start(long, long, long, long, long *, long *);
SAME(GOMP_loop_dynamic_next) bool GOMP_loop_guided_next(long *, long *);
SAME(GOMP_loop_dynamic_start) bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
SAME(GOMP_loop_dynamic_next) bool GOMP_loop_nonmonotonic_guided_next(long *, long *);
SAME(GOMP_loop_dynamic_start) bool GOMP_loop_nonmonotonic_guided_start(long, long, long, long, long *, long *);
SAME(GOMP_parallel_loop_dynamic)
void GOMP_parallel_loop_nonmonotonic_dynamic(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
SAME(GOMP_parallel_loop_dynamic)
void GOMP_parallel_loop_guided(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
SAME(GOMP_parallel_loop_dynamic)
void GOMP_parallel_loop_nonmonotonic_guided(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
