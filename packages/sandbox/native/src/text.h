// The string and number functions that this program needs.
#pragma once
#include "sys.h"

// The compiler may generate calls of these.
void *memset(void *into, int value, size_t size);
void *memcpy(void *into, const void *from, size_t size);

size_t length(const char *text);
int same(const char *a, const char *b);
/** Returns the rest of `text` after `beginning`, or NULL if it begins otherwise. */
const char *after(const char *text, const char *beginning);
/** Parses a decimal number; -1 if `text` is anything else. */
long number(const char *text);
/** Writes `value` in decimal with a NUL and returns the length. */
size_t decimal(char *into, unsigned long value);

/** A string builder of bounded size. */
struct line {
  char at[4096];
  size_t size;
};
struct line *clear(struct line *line);
struct line *add(struct line *line, const char *text);
struct line *add_number(struct line *line, unsigned long value);

int write_file(const char *path, const struct line *content);
