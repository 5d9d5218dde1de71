#include "command.h"
#include "modes.h"
#include "terminal.h"

// Runs one command with three processes: the host's child, which stays outside of the sandbox; the supervisor, which enters
// the sandbox, is the subreaper for the command's orphans and, under a root host, cannot be killed by it; and the command,
// which drops its privileges.

#define PR_SET_PDEATHSIG 1
#define RLIMIT_CORE 4
#define SIG_SETMASK 2
#define MAX_CGROUPS 8
#define FIRST_REAL_TIME 32
#define HOST_END 3
#define REPORT 4
#define F_SETFD 2
#define FD_CLOEXEC 1

struct launch {
  struct sandbox sandbox;
  struct command command;
  int cgroups[MAX_CGROUPS];
  int cgroup_count;
  long cols, rows, terminal_owner;
};

static struct filter filter;
static unsigned int groups[MAX_GROUPS];

/** Parses comma-separated numbers. */
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

static struct launch read_launch(char **args) {
  struct launch launch = {
      .sandbox = {-1, -1, -1, -1, -1, -1},
      .command = {.uid = -1, .gid = -1, .terminal = -1},
      .terminal_owner = -1,
  };
  for (; *args; args++) {
    const char *value;
    if (same(*args, "--")) {
      launch.command.argv = args + 1;
      break;
    }
    if (parse_namespace_argument(&launch.sandbox, *args)) continue;
    if ((value = after(*args, "uid="))) launch.command.uid = number(value);
    else if ((value = after(*args, "gid="))) launch.command.gid = number(value);
    else if ((value = after(*args, "groups="))) {
      launch.command.groups = groups;
      launch.command.group_count = read_groups(value);
    } else if ((value = after(*args, "capabilities="))) launch.command.capabilities = hexadecimal(value);
    else if ((value = after(*args, "cols="))) launch.cols = number(value);
    else if ((value = after(*args, "rows="))) launch.rows = number(value);
    else if ((value = after(*args, "terminal-owner="))) launch.terminal_owner = number(value);
    else if (same(*args, "privileges=keep")) launch.command.keeps_privileges = 1;
    else if ((value = after(*args, "seccomp="))) {
      read_filter(&filter, value);
      launch.command.filter = &filter;
    } else if ((value = after(*args, "cwd="))) launch.command.cwd = value;
    else if ((value = after(*args, "cgroup="))) {
      if (launch.cgroup_count == MAX_CGROUPS) fail("usage", EINVAL, "too many cgroups");
      launch.cgroups[launch.cgroup_count++] = (int)must("cgroup", open_at(AT_FDCWD, value, O_WRONLY, 0), value);
    } else fail("usage", EINVAL, *args);
  }
  if (!launch.command.argv || !launch.command.argv[0]) fail("usage", EINVAL, "no command");
  return launch;
}

static void die_by_signal(int signal) {
  unsigned long none[2] = {0, 0};
  unsigned long empty = 0;
  // Avoid a second core file for the same crash.
  SYS(prlimit64, 0, RLIMIT_CORE, none, NULL, 0);
  SYS(kill, SYS(getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0);
  SYS(rt_sigprocmask, SIG_SETMASK, &empty, NULL, 8, 0);
}

static void __attribute__((noreturn)) exit_like(int status) {
  int signal = status & 0x7f;
  // Node has no names for real-time signals and would report exit code 0.
  if (signal != 0 && signal < FIRST_REAL_TIME) die_by_signal(signal);
  if (signal != 0) exit_process(128 + signal);
  exit_process((status >> 8) & 0xff);
}

static void __attribute__((noreturn)) supervise(const struct launch *launch, int statuses) {
  become_supervisor(&launch->sandbox);
  long command = must("fork", fork_now(), "command");
  if (command == 0) {
    for (int i = 0; i < launch->cgroup_count; i++) must("cgroup", write_some(launch->cgroups[i], "0", 1), "join");
    become_command(&launch->command, launch->sandbox.user);
  }
  close_fd(REPORT);
  if (launch->command.terminal >= 0) close_fd(launch->command.terminal);
  // Only the command may hold the streams: a pipe that the supervisor keeps open would never reach end of file.
  for (int fd = 0; fd < 3; fd++) close_fd(fd);
  for (;;) {
    int status;
    long ended = wait_for(-1, &status, 0);
    if (ended == command) {
      write_some(statuses, &status, sizeof status);
      exit_process(0);
    }
    if (ended < 0 && ended != -EINTR) exit_process(125);
  }
}

void __attribute__((noreturn)) run_mode(char **args, char **environment) {
  // The command inherits only the three streams. The terminal's master is closed once the terminal is open, and the report
  // when the command starts: the host takes an empty report as success.
  SYS(close_range, REPORT + 1, ~0U, 0, 0, 0);
  SYS(fcntl, REPORT, F_SETFD, FD_CLOEXEC, 0, 0);
  report_fd = REPORT;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  block_signals();
  struct launch launch = read_launch(private_arguments(args));
  launch.command.environment = environment;
  if (launch.cols == 0) close_fd(HOST_END);
  else launch.command.terminal = open_terminal(HOST_END, launch.cols, launch.rows, launch.terminal_owner);
  int statuses[2];
  must("pipe", pipe_pair(statuses), "statuses");
  enter_pid_namespace(&launch.sandbox);
  long supervisor = must("fork", fork_now(), "keeper");
  if (supervisor == 0) supervise(&launch, statuses[1]);
  close_fd(REPORT);
  close_fd(statuses[1]);
  if (launch.command.terminal >= 0) close_fd(launch.command.terminal);
  for (int fd = 0; fd < 3; fd++) close_fd(fd);

  int supervisor_status = 0, status;
  while (wait_for((int)supervisor, &supervisor_status, 0) == -EINTR) continue;
  if (read_some(statuses[0], &status, sizeof status) == sizeof status) exit_like(status);
  exit_like(supervisor_status);
}
