#include <linux/filter.h>

#include "modes.h"
#include "namespaces.h"

// Three processes: `outer` is the host's child and stays outside; `keeper` enters the sandbox, adopts what its
// command leaves behind and cannot be touched by it (under a root host); the command itself has lost everything.

#define PR_SET_PDEATHSIG 1
#define PR_SET_DUMPABLE 4
#define PR_SET_SECCOMP 22
#define PR_CAPBSET_DROP 24
#define PR_SET_CHILD_SUBREAPER 36
#define PR_SET_NO_NEW_PRIVS 38
#define SECCOMP_MODE_FILTER 2
#define RLIMIT_CORE 4
#define LAST_CAPABILITY 63
#define MAX_CGROUPS 8

struct order {
  const char *user, *mnt, *pid, *net, *ipc, *uts;
  const char *cgroups[MAX_CGROUPS];
  int cgroup_count;
  long uid, gid;
  unsigned long capabilities;
  const char *seccomp, *cwd, *report;
  char **command;
};

static char filter_bytes[8 * 4096];

static unsigned long hexadecimal(const char *text) {
  unsigned long value = 0;
  for (; *text; text++) value = value * 16 + (unsigned long)(*text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10);
  return value;
}

static struct order read_order(char **args) {
  struct order order = {.uid = -1, .gid = -1};
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
    else if ((value = after(*args, "seccomp="))) order.seccomp = value;
    else if ((value = after(*args, "cwd="))) order.cwd = value;
    else if ((value = after(*args, "report="))) order.report = value;
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
  unsigned long all = ~0UL;
  // No second core file for one crash.
  SYS(prlimit64, 0, RLIMIT_CORE, none, NULL, 0);
  SYS(rt_sigprocmask, 1, &all, NULL, 8, 0);
  SYS(kill, SYS(getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0);
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

static void __attribute__((noreturn)) become_command(const struct order *order, int user, size_t filter_size,
                                                     char **environment) {
  enter(user, "the user namespace");
  give_up_capabilities(order->capabilities);
  if (order->gid >= 0) must("gid", SYS(setresgid, order->gid, order->gid, order->gid, 0, 0), "setresgid");
  if (order->uid >= 0) must("uid", SYS(setresuid, order->uid, order->uid, order->uid, 0, 0), "setresuid");
  set_capabilities(order->capabilities);
  must("privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  // Only now: a change of identity clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (order->cwd) must("cwd", SYS(chdir, order->cwd, 0, 0, 0, 0), order->cwd);
  if (filter_size > 0) {
    struct sock_fprog program = {(unsigned short)(filter_size / 8), (struct sock_filter *)filter_bytes};
    must("seccomp", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0), "filter");
  }
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

/** What the sandbox sees of the keeper in its process table says nothing about the host. */
static void hide_arguments(char **args) {
  for (; *args; args++) memset(*args, 0, length(*args));
}

void __attribute__((noreturn)) run_mode(char **args, char **environment) {
  // Nothing of the host but the three streams goes in.
  SYS(close_range, 3, ~0U, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  struct order order = read_order(args);
  int failures[2];
  int statuses[2];
  if (order.report) report_fd = (int)open_at(AT_FDCWD, order.report, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
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
  must("pipe", pipe_pair(failures), "failures");
  must("pipe", pipe_pair(statuses), "statuses");

  int root = SYS(geteuid, 0, 0, 0, 0, 0) == 0;
  if (root) SYS(setgroups, 0, NULL, 0, 0, 0);
  else if (user >= 0) enter_outer_user_namespaces(user);
  enter(pid, "the process table");

  long keeper = must("fork", fork_now(), "keeper");
  if (keeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (report_fd >= 0) close_fd(report_fd);
    report_fd = failures[1];
    enter(net, "the network");
    enter(ipc, "the shared memory");
    enter(uts, "the host name");
    enter(mnt, "the file system");
    long command = must("fork", fork_now(), "command");
    if (command == 0) {
      for (int i = 0; i < order.cgroup_count; i++) must("cgroup", write_some(cgroups[i], "0", 1), order.cgroups[i]);
      become_command(&order, user, filter_size, environment);
    }
    close_fd(failures[1]);
    hide_arguments(args);
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
  close_fd(failures[1]);
  close_fd(statuses[1]);
  for (int fd = 0; fd < 3; fd++) close_fd(fd);

  int keeper_status = 0;
  while (wait_for((int)keeper, &keeper_status, 0) == -EINTR) continue;
  static char message[4096];
  long size = read_some(failures[0], message, sizeof message);
  if (size > 0) {
    write_some(report_fd >= 0 ? report_fd : 2, message, (size_t)size);
    leave(125);
  }
  if (order.report && report_fd >= 0) SYS(unlinkat, AT_FDCWD, order.report, 0, 0, 0);
  int status;
  if (read_some(statuses[0], &status, sizeof status) == sizeof status) end_like(status);
  end_like(keeper_status);
}
