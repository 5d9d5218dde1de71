#include "text.h"

void *memset(void *into, int value, size_t size) {
  char *at = into;
  while (size--) *at++ = (char)value;
  return into;
}

void *memcpy(void *into, const void *from, size_t size) {
  char *at = into;
  const char *source = from;
  while (size--) *at++ = *source++;
  return into;
}

size_t length(const char *text) {
  size_t size = 0;
  while (text[size]) size++;
  return size;
}

int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

const char *after(const char *text, const char *beginning) {
  while (*beginning)
    if (*text++ != *beginning++) return NULL;
  return text;
}

long number(const char *text) {
  if (!*text) return -1;
  long value = 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > 0x7fffffffffffL) return -1;
    value = value * 10 + (*text - '0');
  }
  return value;
}

size_t decimal(char *into, unsigned long value) {
  char digits[24];
  size_t count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while (value /= 10);
  for (size_t i = 0; i < count; i++) into[i] = digits[count - 1 - i];
  into[count] = 0;
  return count;
}

struct line *clear(struct line *line) {
  line->size = 0;
  line->at[0] = 0;
  return line;
}

struct line *add(struct line *line, const char *text) {
  while (*text && line->size < sizeof line->at - 1) line->at[line->size++] = *text++;
  line->at[line->size] = 0;
  return line;
}

struct line *add_number(struct line *line, unsigned long value) {
  char digits[24];
  decimal(digits, value);
  return add(line, digits);
}

int write_file(const char *path, const struct line *content) {
  long fd = open_at(AT_FDCWD, path, O_WRONLY, 0);
  if (fd < 0) return (int)fd;
  long wrote = write_some((int)fd, content->at, content->size);
  close_fd((int)fd);
  return wrote == (long)content->size ? 0 : wrote < 0 ? (int)wrote : -EINVAL;
}
