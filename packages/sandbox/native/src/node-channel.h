#pragma once
#include "fail.h"

struct poll_entry {
  int fd;
  short events, happened;
};

/** Writes one line to the channel that Node opens for `stdio: 'ipc'`, with a descriptor unless `fd` is -1. */
void send_line(int channel, const struct line *line, int fd);
/** Discards Node's acknowledgements of descriptors. Returns false if the host has exited. */
int drain_channel(int channel);
