// Error reports: one line, `<step> <errno> <what>`, written to the file or pipe that the host chose.
#pragma once
#include "text.h"

/** The descriptor for failures; -1 for standard error. */
extern int report_fd;
/** If set, called with a failure instead of writing it to `report_fd`. */
extern void (*on_failure)(const struct line *line);

void __attribute__((noreturn)) fail(const char *step, long error, const char *what);

/** Returns `result`, or fails if it is an error. */
static inline long must(const char *step, long result, const char *what) {
  if (result < 0) fail(step, -result, what);
  return result;
}
