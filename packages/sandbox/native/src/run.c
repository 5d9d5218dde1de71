#include "command.h"
#include "modes.h"
#include "terminal.h"

// One command. Three processes: `outer` is the host's child and stays outside; the keeper enters the sandbox, adopts
// what its command leaves behind and cannot be touched by it (under a root host); the command has lost everything.

#define PR_SET_PDEATHSIG 1
#define RLIMIT_CORE 4
#define SIG_SETMASK 2
#define MAX_CGROUPS 8
#define FIRST_REAL_TIME 32
#define HOST_END 3
#define REPORT 4
#define F_SETFD 2
#define FD_CLOEXEC 1

struct order {
  struct sandbox sandbox;
  struct command command;
  int cgroups[MAX_CGROUPS];
  int cgroup_count;
  long cols, rows, terminal_owner;
};

static struct filter filter;
static unsigned int groups[MAX_GROUPS];

/** Numbers with commas in between. */
static unsigned int read_groups(const char *text) {
  unsigned int count = 0;
  while (*text && count < MAX_GROUPS) {
    unsigned int group = 0;
    for (; *text >= '0' && *text <= '9'; text++) group = group * 10 + (unsigned int)(*text - '0');
    groups[count++] = group;
    if (*text) text++;
  }
  return count;
}

static unsigned long hexadecimal(const char *text) {
  unsigned long value = 0;
  for (; *text; text++) value = value * 16 + (unsigned long)(*text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10);
  return value;
}

static struct order read_order(char **args) {
  struct order order = {
      .sandbox = {-1, -1, -1, -1, -1, -1},
      .command = {.uid = -1, .gid = -1, .terminal = -1},
      .terminal_owner = -1,
  };
  for (; *args; args++) {
    const char *value;
    if (same(*args, "--")) {
      order.command.argv = args + 1;
      break;
    }
    if (take_namespace(&order.sandbox, *args)) continue;
    if ((value = after(*args, "uid="))) order.command.uid = number(value);
    else if ((value = after(*args, "gid="))) order.command.gid = number(value);
    else if ((value = after(*args, "groups="))) {
      order.command.groups = groups;
      order.command.group_count = read_groups(value);
    } else if ((value = after(*args, "capabilities="))) order.command.capabilities = hexadecimal(value);
    else if ((value = after(*args, "cols="))) order.cols = number(value);
    else if ((value = after(*args, "rows="))) order.rows = number(value);
    else if ((value = after(*args, "terminal-owner="))) order.terminal_owner = number(value);
    else if (same(*args, "privileges=keep")) order.command.keeps_privileges = 1;
    else if ((value = after(*args, "seccomp="))) {
      read_filter(&filter, value);
      order.command.filter = &filter;
    } else if ((value = after(*args, "cwd="))) order.command.cwd = value;
    else if ((value = after(*args, "cgroup="))) {
      if (order.cgroup_count == MAX_CGROUPS) fail("usage", EINVAL, "too many cgroups");
      order.cgroups[order.cgroup_count++] = (int)must("cgroup", open_at(AT_FDCWD, value, O_WRONLY, 0), value);
    } else fail("usage", EINVAL, *args);
  }
  if (!order.command.argv || !order.command.argv[0]) fail("usage", EINVAL, "no command");
  return order;
}

static void raise_again(int signal) {
  unsigned long none[2] = {0, 0};
  unsigned long empty = 0;
  // No second core file for one crash.
  SYS(prlimit64, 0, RLIMIT_CORE, none, NULL, 0);
  SYS(kill, SYS(getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0);
  SYS(rt_sigprocmask, SIG_SETMASK, &empty, NULL, 8, 0);
}

static void __attribute__((noreturn)) end_like(int status) {
  int signal = status & 0x7f;
  // The host cannot name a real-time signal, and would take it for a good end.
  if (signal != 0 && signal < FIRST_REAL_TIME) raise_again(signal);
  if (signal != 0) leave(128 + signal);
  leave((status >> 8) & 0xff);
}

static void __attribute__((noreturn)) keep(const struct order *order, int statuses) {
  become_keeper(&order->sandbox);
  long command = must("fork", fork_now(), "command");
  if (command == 0) {
    for (int i = 0; i < order->cgroup_count; i++) must("cgroup", write_some(order->cgroups[i], "0", 1), "join");
    become_command(&order->command, order->sandbox.user);
  }
  close_fd(REPORT);
  if (order->command.terminal >= 0) close_fd(order->command.terminal);
  // Held by the command alone: a pipe that stays open because of the keeper would never end.
  for (int fd = 0; fd < 3; fd++) close_fd(fd);
  for (;;) {
    int status;
    long ended = wait_for(-1, &status, 0);
    if (ended == command) {
      write_some(statuses, &status, sizeof status);
      leave(0);
    }
    if (ended < 0 && ended != -EINTR) leave(125);
  }
}

void __attribute__((noreturn)) run_mode(char **args, char **environment) {
  // Nothing of the host goes in but the three streams; the host's end of a terminal only until it is open, and the
  // report until the command is there: the host takes its end without a word as the sign that all went well.
  SYS(close_range, REPORT + 1, ~0U, 0, 0, 0);
  SYS(fcntl, REPORT, F_SETFD, FD_CLOEXEC, 0, 0);
  report_fd = REPORT;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  block_signals();
  struct order order = read_order(private_arguments(args));
  order.command.environment = environment;
  if (order.cols == 0) close_fd(HOST_END);
  else order.command.terminal = open_terminal(HOST_END, order.cols, order.rows, order.terminal_owner);
  int statuses[2];
  must("pipe", pipe_pair(statuses), "statuses");
  open_way_in(&order.sandbox);
  long keeper = must("fork", fork_now(), "keeper");
  if (keeper == 0) keep(&order, statuses[1]);
  close_fd(REPORT);
  close_fd(statuses[1]);
  if (order.command.terminal >= 0) close_fd(order.command.terminal);
  for (int fd = 0; fd < 3; fd++) close_fd(fd);

  int keeper_status = 0, status;
  while (wait_for((int)keeper, &keeper_status, 0) == -EINTR) continue;
  if (read_some(statuses[0], &status, sizeof status) == sizeof status) end_like(status);
  end_like(keeper_status);
}
