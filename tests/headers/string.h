// What emitted C asks of the C library's <string.h>, as math.h beside it.
#pragma once
#include <stddef.h>

void *memcpy(void *, const void *, size_t), *memmove(void *, const void *, size_t), *memset(void *, int, size_t);
void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t), strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
size_t strlen(const char *);
char *strchr(const char *, int), *strstr(const char *, const char *);
