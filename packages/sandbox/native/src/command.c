#include "command.h"

#include <linux/filter.h>

#include "terminal.h"

#define PR_SET_PDEATHSIG 1
#define PR_SET_DUMPABLE 4
#define PR_SET_SECCOMP 22
#define PR_CAPBSET_DROP 24
#define PR_SET_CHILD_SUBREAPER 36
#define PR_SET_NO_NEW_PRIVS 38
#define SECCOMP_MODE_FILTER 2
#define SIG_SETMASK 2
#define LAST_CAPABILITY 63
#define MAX_ARGUMENTS 65536

void read_filter(struct filter *filter, const char *path) {
  int file = (int)must("seccomp", open_at(AT_FDCWD, path, O_RDONLY, 0), path);
  for (long got; (got = read_some(file, filter->bytes + filter->size, sizeof filter->bytes - filter->size)) > 0;)
    filter->size += (size_t)got;
  close_fd(file);
  if (filter->size == 0 || filter->size % 8 || filter->size == sizeof filter->bytes) fail("seccomp", EINVAL, path);
}

static void drop_capabilities(unsigned long kept) {
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

void __attribute__((noreturn)) become_command(const struct command *command, int user) {
  char **environment = command->environment;
  SYS(setsid, 0, 0, 0, 0, 0);
  if (command->terminal >= 0) take_terminal(command->terminal);
  enter(user, "the user namespace");
  if (!command->keeps_privileges) drop_capabilities(command->capabilities);
  // Fails without root, since an ordinary user may not drop groups; the failure is ignored.
  if (command->uid >= 0) SYS(setgroups, command->group_count, command->groups, 0, 0, 0);
  if (command->gid >= 0) must("gid", SYS(setresgid, command->gid, command->gid, command->gid, 0, 0), "setresgid");
  if (command->uid >= 0) must("uid", SYS(setresuid, command->uid, command->uid, command->uid, 0, 0), "setresuid");
  if (!command->keeps_privileges) {
    set_capabilities(command->capabilities);
    must("privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  }
  // Set after the ids, since a change of ids clears it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (command->cwd) must("cwd", SYS(chdir, command->cwd, 0, 0, 0, 0), command->cwd);
  if (command->filter && command->filter->size > 0) {
    struct sock_fprog program = {(unsigned short)(command->filter->size / 8), (struct sock_filter *)command->filter->bytes};
    must("seccomp", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0), "filter");
  }
  unsigned long none = 0;
  SYS(rt_sigprocmask, SIG_SETMASK, &none, NULL, 8, 0);
  const char *name = command->argv[0];
  for (const char *at = name; *at; at++)
    if (*at == '/') fail("exec", -SYS(execve, name, command->argv, environment, 0, 0), name);
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
    long error = -SYS(execve, candidate.at, command->argv, environment, 0, 0);
    if (error == ENOENT || error == ENOTDIR) continue;
    // A file in a folder that may not be searched counts as missing, as in shells.
    if (error == EACCES && SYS(faccessat, AT_FDCWD, candidate.at, F_OK, 0, 0) != 0) continue;
    worst = error;
    if (error != EACCES) break;
  }
  fail("exec", worst, name);
}

static int open_namespace_of(const char *argument, const char *name, int *into) {
  const char *path = after(argument, name);
  if (path) *into = open_namespace(path);
  return path != NULL;
}

int parse_namespace_argument(struct sandbox *sandbox, const char *argument) {
  return open_namespace_of(argument, "user=", &sandbox->user) || open_namespace_of(argument, "mnt=", &sandbox->mnt) ||
         open_namespace_of(argument, "pid=", &sandbox->pid) || open_namespace_of(argument, "net=", &sandbox->net) ||
         open_namespace_of(argument, "ipc=", &sandbox->ipc) || open_namespace_of(argument, "uts=", &sandbox->uts);
}

void enter_pid_namespace(struct sandbox *sandbox) {
  if (SYS(geteuid, 0, 0, 0, 0, 0) != 0 && sandbox->user >= 0) enter_outer_user_namespaces(sandbox->user);
  enter(sandbox->pid, "the process table");
}

void become_supervisor(const struct sandbox *sandbox) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // No process inside, not even root's, may read its memory or descriptors.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  enter(sandbox->net, "the network");
  enter(sandbox->ipc, "the shared memory");
  enter(sandbox->uts, "the host name");
  enter(sandbox->mnt, "the file system");
}

char **private_arguments(char **args) {
  static char *copies[MAX_ARGUMENTS];
  static char text[1 << 22];
  size_t used = 0;
  int count = 0;
  for (; args[count]; count++) {
    size_t size = length(args[count]) + 1;
    if (count + 1 == MAX_ARGUMENTS || used + size > sizeof text) fail("exec", 7, "too many arguments");
    copies[count] = memcpy(text + used, args[count], size);
    used += size;
    memset(args[count], 0, size);
  }
  copies[count] = NULL;
  // Wipe the program name and the mode too, which precede `args`.
  for (int i = 1; i <= 2; i++) memset(args[-i], 0, length(args[-i]));
  return copies;
}

void block_signals(void) {
  unsigned long all = ~0UL;
  SYS(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8, 0);
}
