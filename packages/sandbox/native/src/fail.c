#include "fail.h"

int report_fd = -1;
void (*on_failure)(const struct line *line) = NULL;

void __attribute__((noreturn)) fail(const char *step, long error, const char *what) {
  static struct line line;
  add(add(add_number(add(add(clear(&line), step), " "), (unsigned long)error), " "), what);
  add(&line, "\n");
  if (on_failure) on_failure(&line);
  else write_some(report_fd >= 0 ? report_fd : 2, line.at, line.size);
  exit_process(125);
}
