// What emitted C asks of the C library's <stdlib.h>, as math.h beside it.
#pragma once
#include <stddef.h>

void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), *aligned_alloc(size_t, size_t);
void free(void *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *)), abort(void), exit(int);
int posix_memalign(void **, size_t, size_t), abs(int), atoi(const char *), atexit(void (*)(void));
long labs(long), strtol(const char *, char **, int);
long long llabs(long long), strtoll(const char *, char **, int);
double strtod(const char *, char **);
char *getenv(const char *);
