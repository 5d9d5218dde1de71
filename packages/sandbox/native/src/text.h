// Text and numbers, as far as they are needed here.
#pragma once
#include "sys.h"

// The compiler may call these by itself.
void *memset(void *into, int value, size_t size);
void *memcpy(void *into, const void *from, size_t size);

size_t length(const char *text);
int same(const char *a, const char *b);
/** Whether `text` begins with `beginning`; returns what follows it, or NULL. */
const char *after(const char *text, const char *beginning);
/** A decimal number and nothing else, or -1. */
long number(const char *text);
/** Writes `value` in decimal with a NUL and returns the length. */
size_t decimal(char *into, unsigned long value);

/** A bounded text that is put together piece by piece. */
struct line {
  char at[4096];
  size_t size;
};
struct line *clear(struct line *line);
struct line *add(struct line *line, const char *text);
struct line *add_number(struct line *line, unsigned long value);

int write_file(const char *path, const struct line *content);
