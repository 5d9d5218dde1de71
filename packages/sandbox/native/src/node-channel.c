#include "node-channel.h"

// Node's IPC protocol: one line of JSON per message; a handle is a descriptor sent with the line that names it.

#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define POLLOUT 4

struct part {
  const void *at;
  size_t size;
};

struct message {
  void *name;
  unsigned int name_size;
  struct part *parts;
  size_t part_count;
  void *control;
  size_t control_size;
  unsigned int flags;
};

struct one_descriptor {
  size_t size;
  int level, type;
  int fd;
};

void send_line(int channel, const struct line *line, int fd) {
  struct part part = {line->at, line->size};
  struct one_descriptor control = {sizeof(size_t) + 3 * sizeof(int), SOL_SOCKET, SCM_RIGHTS, fd};
  struct message message = {.parts = &part, .part_count = 1};
  if (fd >= 0) {
    message.control = &control;
    message.control_size = sizeof control;
  }
  while (part.size > 0) {
    long sent = SYS(sendmsg, channel, &message, 0, 0, 0);
    if (sent > 0) {
      part.at = (const char *)part.at + sent;
      part.size -= (size_t)sent;
      message.control = NULL;
      message.control_size = 0;
      continue;
    }
    // The host has exited; the main loop notices that.
    if (sent != -EAGAIN && sent != -EINTR) return;
    struct poll_entry one = {channel, POLLOUT, 0};
    SYS(ppoll, &one, 1, NULL, NULL, 0);
  }
}

int drain_channel(int channel) {
  char ignored[512];
  long got = read_some(channel, ignored, sizeof ignored);
  return got > 0 || got == -EAGAIN || got == -EINTR;
}
