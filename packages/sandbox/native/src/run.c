#include <linux/filter.h>

#include "modes.h"
#include "namespaces.h"
#include "terminal.h"

// Three processes: `outer` is the host's child and stays outside; `keeper` enters the sandbox, adopts what its
// command leaves behind and cannot be touched by it (under a root host); the command itself has lost everything.

#define PR_SET_PDEATHSIG 1
#define PR_SET_DUMPABLE 4
#define PR_SET_SECCOMP 22
#define PR_CAPBSET_DROP 24
#define PR_SET_CHILD_SUBREAPER 36
#define PR_SET_NO_NEW_PRIVS 38
#define SECCOMP_MODE_FILTER 2
#define SIG_SETMASK 2
#define RLIMIT_CORE 4
#define LAST_CAPABILITY 63
#define MAX_CGROUPS 8
#define HOST_END 3
#define REPORT 4
#define F_SETFD 2
#define FD_CLOEXEC 1

struct order {
  const char *user, *mnt, *pid, *net, *ipc, *uts;
  const char *cgroups[MAX_CGROUPS];
  int cgroup_count;
  long uid, gid;
  long cols, rows, terminal_owner;
  unsigned long capabilities;
  int keeps_privileges;
  const char *seccomp, *cwd;
  char **command;
};

static char filter_bytes[8 * 4096];

static unsigned long hexadecimal(const char *text) {
  unsigned long value = 0;
  for (; *text; text++) value = value * 16 + (unsigned long)(*text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10);
  return value;
}

static struct order read_order(char **args) {
  struct order order = {.uid = -1, .gid = -1, .terminal_owner = -1};
  for (; *args; args++) {
    const char *value;
    if (same(*args, "--")) {
      order.command = args + 1;
      break;
    }
    if ((value = after(*args, "user="))) order.user = value;
    else if ((value = after(*args, "mnt="))) order.mnt = value;
    else if ((value = after(*args, "pid="))) order.pid = value;
    else if ((value = after(*args, "net="))) order.net = value;
    else if ((value = after(*args, "ipc="))) order.ipc = value;
    else if ((value = after(*args, "uts="))) order.uts = value;
    else if ((value = after(*args, "uid="))) order.uid = number(value);
    else if ((value = after(*args, "gid="))) order.gid = number(value);
    else if ((value = after(*args, "capabilities="))) order.capabilities = hexadecimal(value);
    else if ((value = after(*args, "cols="))) order.cols = number(value);
    else if ((value = after(*args, "rows="))) order.rows = number(value);
    else if ((value = after(*args, "terminal-owner="))) order.terminal_owner = number(value);
    else if (same(*args, "privileges=keep")) order.keeps_privileges = 1;
    else if ((value = after(*args, "seccomp="))) order.seccomp = value;
    else if ((value = after(*args, "cwd="))) order.cwd = value;
    else if ((value = after(*args, "cgroup="))) {
      if (order.cgroup_count == MAX_CGROUPS) fail("usage", EINVAL, "too many cgroups");
      order.cgroups[order.cgroup_count++] = value;
    } else fail("usage", EINVAL, *args);
  }
  if (!order.command || !order.command[0]) fail("usage", EINVAL, "no command");
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
  if (signal != 0) {
    raise_again(signal);
    leave(128 + signal);
  }
  leave((status >> 8) & 0xff);
}

static void give_up_capabilities(unsigned long kept) {
  for (int capability = 0; capability <= LAST_CAPABILITY; capability++)
    if (!(kept >> capability & 1)) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

static void set_capabilities(unsigned long kept) {
  struct {
    unsigned int version;
    int pid;
  } header = {0x20080522, 0};
  struct {
    unsigned int effective, permitted, inheritable;
  } sets[2] = {
      {(unsigned int)kept, (unsigned int)kept, 0},
      {(unsigned int)(kept >> 32), (unsigned int)(kept >> 32), 0},
  };
  must("capabilities", SYS(capset, &header, sets, 0, 0, 0), "capset");
}

static void __attribute__((noreturn)) become_command(const struct order *order, int user, int terminal,
                                                     size_t filter_size, char **environment) {
  SYS(setsid, 0, 0, 0, 0, 0);
  if (terminal >= 0) take_terminal(terminal);
  enter(user, "the user namespace");
  if (!order->keeps_privileges) give_up_capabilities(order->capabilities);
  if (order->gid >= 0) must("gid", SYS(setresgid, order->gid, order->gid, order->gid, 0, 0), "setresgid");
  if (order->uid >= 0) must("uid", SYS(setresuid, order->uid, order->uid, order->uid, 0, 0), "setresuid");
  if (!order->keeps_privileges) {
    set_capabilities(order->capabilities);
    must("privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  }
  // Only now: a change of identity clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (order->cwd) must("cwd", SYS(chdir, order->cwd, 0, 0, 0, 0), order->cwd);
  if (filter_size > 0) {
    struct sock_fprog program = {(unsigned short)(filter_size / 8), (struct sock_filter *)filter_bytes};
    must("seccomp", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0), "filter");
  }
  unsigned long none = 0;
  SYS(rt_sigprocmask, SIG_SETMASK, &none, NULL, 8, 0);
  const char *name = order->command[0];
  for (const char *at = name; *at; at++)
    if (*at == '/') fail("exec", -SYS(execve, name, order->command, environment, 0, 0), name);
  const char *path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (char **variable = environment; *variable; variable++) {
    const char *value = after(*variable, "PATH=");
    if (value) path = value;
  }
  long worst = ENOENT;
  while (*path) {
    static struct line candidate;
    clear(&candidate);
    char one[2] = {0, 0};
    while (*path && *path != ':') {
      one[0] = *path++;
      add(&candidate, one);
    }
    if (*path == ':') path++;
    if (candidate.size == 0) add(&candidate, ".");
    add(add(&candidate, "/"), name);
    long error = -SYS(execve, candidate.at, order->command, environment, 0, 0);
    if (error != ENOENT && error != ENOTDIR) worst = error;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) break;
  }
  fail("exec", worst, name);
}

/** What the sandbox sees of the keeper in its process table says nothing about the host. Two words stand before `args`. */
static void hide_arguments(char **args) {
  for (; *args; args++) memset(*args, 0, length(*args));
}

void __attribute__((noreturn)) run_mode(char **args, char **environment) {
  // Nothing of the host goes in but the three streams; the host's end of a terminal only until it is open, and the
  // report until the command is there: the host takes its end without a word as the sign that all went well.
  SYS(close_range, REPORT + 1, ~0U, 0, 0, 0);
  SYS(fcntl, REPORT, F_SETFD, FD_CLOEXEC, 0, 0);
  report_fd = REPORT;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // What is meant for the command must not end those who wait for it.
  unsigned long all = ~0UL;
  SYS(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8, 0);
  struct order order = read_order(args);
  if (order.cols == 0) close_fd(HOST_END);
  int statuses[2];
  int terminal = order.cols ? open_terminal(HOST_END, order.cols, order.rows, order.terminal_owner) : -1;
  int user = open_namespace(order.user), mnt = open_namespace(order.mnt), pid = open_namespace(order.pid);
  int net = open_namespace(order.net), ipc = open_namespace(order.ipc), uts = open_namespace(order.uts);
  int cgroups[MAX_CGROUPS];
  for (int i = 0; i < order.cgroup_count; i++)
    cgroups[i] = (int)must("cgroup", open_at(AT_FDCWD, order.cgroups[i], O_WRONLY, 0), order.cgroups[i]);
  size_t filter_size = 0;
  if (order.seccomp) {
    int file = (int)must("seccomp", open_at(AT_FDCWD, order.seccomp, O_RDONLY, 0), order.seccomp);
    for (long got; (got = read_some(file, filter_bytes + filter_size, sizeof filter_bytes - filter_size)) > 0;)
      filter_size += (size_t)got;
    close_fd(file);
    if (filter_size == 0 || filter_size % 8) fail("seccomp", EINVAL, order.seccomp);
  }
  must("pipe", pipe_pair(statuses), "statuses");

  int root = SYS(geteuid, 0, 0, 0, 0, 0) == 0;
  if (root && order.uid >= 0) SYS(setgroups, 0, NULL, 0, 0, 0);
  if (!root && user >= 0) enter_outer_user_namespaces(user);
  enter(pid, "the process table");

  long keeper = must("fork", fork_now(), "keeper");
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    enter(net, "the network");
    enter(ipc, "the shared memory");
    enter(uts, "the host name");
    enter(mnt, "the file system");
    long command = must("fork", fork_now(), "command");
    if (command == 0) {
      for (int i = 0; i < order.cgroup_count; i++) must("cgroup", write_some(cgroups[i], "0", 1), order.cgroups[i]);
      become_command(&order, user, terminal, filter_size, environment);
    }
    close_fd(REPORT);
    if (terminal >= 0) close_fd(terminal);
    hide_arguments(args - 2);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    // Held by the command alone: a pipe that stays open because of the keeper would never end.
    for (int fd = 0; fd < 3; fd++) close_fd(fd);
    for (;;) {
      int status;
      long ended = wait_for(-1, &status, 0);
      if (ended == command) {
        write_some(statuses[1], &status, sizeof status);
        leave(0);
      }
      if (ended < 0 && ended != -EINTR) leave(125);
    }
  }
  close_fd(REPORT);
  close_fd(statuses[1]);
  if (terminal >= 0) close_fd(terminal);
  for (int fd = 0; fd < 3; fd++) close_fd(fd);

  int keeper_status = 0;
  while (wait_for((int)keeper, &keeper_status, 0) == -EINTR) continue;
  int status;
  if (read_some(statuses[0], &status, sizeof status) == sizeof status) end_like(status);
  end_like(keeper_status);
}
