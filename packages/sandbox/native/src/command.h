#pragma once
#include "namespaces.h"

/** A system call filter as the kernel takes it. */
struct filter {
  char bytes[8 * 1024];
  size_t size;
};

#define MAX_GROUPS 32

/** What a command is to have, once everything else is lost. */
struct command {
  char **argv, **environment;
  const char *cwd;
  long uid, gid;
  /** Beside its own. */
  const unsigned int *groups;
  unsigned int group_count;
  unsigned long capabilities;
  /** Without isolation nothing is taken away. */
  int keeps_privileges;
  const struct filter *filter;
  /** -1 without a terminal. */
  int terminal;
};

void read_filter(struct filter *filter, const char *path);
/** The last thing a process does before it is another program. `user` is entered first. */
void __attribute__((noreturn)) become_command(const struct command *command, int user);

/** The sandbox that is entered, as descriptors; -1 where nothing is entered. */
struct sandbox {
  int user, mnt, pid, net, ipc, uts;
};

/** Takes `user=`, `mnt=` … from an argument. */
int take_namespace(struct sandbox *sandbox, const char *argument);
/** Opens the way in: children of this process are in the sandbox's process table. */
void open_way_in(struct sandbox *sandbox);
/** As a child of that process: adopts what its command will leave behind, and enters the rest. */
void become_keeper(const struct sandbox *sandbox);

/** Copies the arguments and wipes the originals, which others can see in the process table. */
char **private_arguments(char **args);
/** Signals that are meant for a command must not end those who wait for it. */
void block_signals(void);
