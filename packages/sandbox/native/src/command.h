#pragma once
#include "namespaces.h"

/** A seccomp filter in the kernel's format. */
struct filter {
  char bytes[8 * 1024];
  size_t size;
};

#define MAX_GROUPS 32

/** A command and the privileges that it keeps. */
struct command {
  char **argv, **environment;
  const char *cwd;
  long uid, gid;
  /** Supplementary groups. */
  const unsigned int *groups;
  unsigned int group_count;
  unsigned long capabilities;
  /** Without isolation, no privileges are dropped. */
  int keeps_privileges;
  const struct filter *filter;
  /** -1 without a terminal. */
  int terminal;
};

void read_filter(struct filter *filter, const char *path);
/** Turns this process into the command. Enters the user namespace `user` first. */
void __attribute__((noreturn)) become_command(const struct command *command, int user);

/** The namespaces of a sandbox as descriptors; -1 for a namespace that is not entered. */
struct sandbox {
  int user, mnt, pid, net, ipc, uts;
};

/** Reads a `user=`, `mnt=`, `pid=`, `net=`, `ipc=` or `uts=` argument; false for any other argument. */
int parse_namespace_argument(struct sandbox *sandbox, const char *argument);
/** Enters the sandbox's PID namespace: children of this process will be in it. */
void enter_pid_namespace(struct sandbox *sandbox);
/** Makes a child of that process a supervisor: the subreaper for its command's orphans, in the other namespaces. */
void become_supervisor(const struct sandbox *sandbox);

/** Copies the arguments and wipes the originals, which other processes can read in /proc. */
char **private_arguments(char **args);
/** Blocks all signals: a signal for a command must not end its supervisor. */
void block_signals(void);
