// How this program says what went wrong: one line, `<step> <errno> <what>`, in the file or pipe its host named.
#pragma once
#include "text.h"

/** Where failures are written; -1 writes them to standard error. */
extern int report_fd;
/** Told instead, where there is one. */
extern void (*on_failure)(const struct line *line);

void __attribute__((noreturn)) fail(const char *step, long error, const char *what);

/** `result`, unless it is an error. */
static inline long must(const char *step, long result, const char *what) {
  if (result < 0) fail(step, -result, what);
  return result;
}
