#include "fail.h"
#include "modes.h"

// The host holds the other end of standard input. It registers its control groups with `+<path>` and `-<path>` lines and
// sends `.` when no sandbox is left. If the host exits without a `.`, the guard kills the processes in those groups and
// all processes that carry the host's marker until none is left.

#define MAX_GROUPS 8192
#define MAX_PATH 512
#define MAX_PROCESSES 65536
#define PAUSE_NS 20000000
#define MAX_ROUNDS 500
#define CLEAN_ROUNDS 3
#define SIG_BLOCK 0
#define AT_REMOVEDIR 0x200

struct entry {
  unsigned long inode;
  long offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

static char groups[MAX_GROUPS][MAX_PATH];
static int pids[MAX_PROCESSES], parents[MAX_PROCESSES];
static char marked[MAX_PROCESSES];
static int process_count;
static char buffer[1 << 17];

static void pause_shortly(void) {
  long time[2] = {0, PAUSE_NS};
  SYS(nanosleep, time, NULL, 0, 0, 0);
}

static void handle_line(const char *text) {
  char sign = *text++;
  if (sign == '.') exit_process(0);
  if ((sign != '+' && sign != '-') || length(text) >= MAX_PATH) return;
  for (int i = 0; i < MAX_GROUPS; i++) {
    int found = sign == '+' ? groups[i][0] == 0 : same(groups[i], text);
    if (!found) continue;
    if (sign == '+') memcpy(groups[i], text, length(text) + 1);
    else groups[i][0] = 0;
    return;
  }
}

static void read_until_host_exits(void) {
  static struct line line;
  clear(&line);
  for (;;) {
    char chunk[4096];
    long got = read_some(0, chunk, sizeof chunk);
    if (got == -EINTR) continue;
    if (got <= 0) return;
    for (long i = 0; i < got; i++) {
      char one[2] = {chunk[i], 0};
      if (chunk[i] != '\n') {
        add(&line, one);
        continue;
      }
      handle_line(line.at);
      clear(&line);
    }
  }
}

static int kill_members(const char *group) {
  static struct line path;
  add(add(clear(&path), group), "/cgroup.procs");
  long file = open_at(AT_FDCWD, path.at, O_RDONLY, 0);
  if (file < 0) return 0;
  int killed = 0, pid = 0;
  for (long got; (got = read_some((int)file, buffer, sizeof buffer)) > 0;)
    for (long i = 0; i < got; i++) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        pid = pid * 10 + (buffer[i] - '0');
        continue;
      }
      if (pid > 1) killed += SYS(kill, pid, SIGKILL, 0, 0, 0) == 0;
      pid = 0;
    }
  close_fd((int)file);
  return killed;
}

static int kill_groups(void) {
  int killed = 0;
  static struct line path, one;
  for (int i = 0; i < MAX_GROUPS; i++) {
    if (!groups[i][0]) continue;
    write_file(add(add(clear(&path), groups[i]), "/cgroup.kill")->at, add(clear(&one), "1"));
    // A frozen process does not die before it thaws.
    write_file(add(add(clear(&path), groups[i]), "/freezer.state")->at, add(clear(&one), "THAWED"));
    write_file(add(add(clear(&path), groups[i]), "/cgroup.freeze")->at, add(clear(&one), "0"));
    killed += kill_members(groups[i]);
  }
  return killed;
}

static long read_process_file(int pid, const char *name, char *into, size_t size) {
  static struct line path;
  add(add(add_number(add(clear(&path), "/proc/"), (unsigned long)pid), "/"), name);
  long file = open_at(AT_FDCWD, path.at, O_RDONLY, 0);
  if (file < 0) return file;
  size_t total = 0;
  for (long got; total < size && (got = read_some((int)file, into + total, size - total)) > 0;) total += (size_t)got;
  close_fd((int)file);
  return (long)total;
}

static int carries(int pid, const char *marker) {
  long size = read_process_file(pid, "environ", buffer, sizeof buffer - 1);
  if (size <= 0) return 0;
  buffer[size] = 0;
  for (const char *at = buffer; at < buffer + size; at += length(at) + 1)
    if (same(at, marker)) return 1;
  return 0;
}

/** The parent of a process, or -1 if the process has ended. */
static int parent_of(int pid) {
  static char stat[1024];
  long size = read_process_file(pid, "stat", stat, sizeof stat - 1);
  if (size <= 0) return -1;
  long at = size;
  while (at > 0 && stat[at] != ')') at--;
  if (at == 0 || stat[at + 2] == 'Z' || stat[at + 2] == 'X') return -1;
  int parent = 0;
  for (at += 4; stat[at] >= '0' && stat[at] <= '9'; at++) parent = parent * 10 + (stat[at] - '0');
  return parent;
}

static void list_processes(const char *marker, int self) {
  process_count = 0;
  static char entries[1 << 15];
  long folder = open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
  if (folder < 0) return;
  for (long got; (got = SYS(getdents64, folder, entries, sizeof entries, 0, 0)) > 0;)
    for (long at = 0; at < got;) {
      struct entry *entry = (struct entry *)(entries + at);
      at += entry->size;
      long pid = number(entry->name);
      if (pid <= 1 || pid == self || process_count == MAX_PROCESSES) continue;
      int parent = parent_of((int)pid);
      if (parent < 0) continue;
      pids[process_count] = (int)pid;
      parents[process_count] = parent;
      marked[process_count++] = (char)carries((int)pid, marker);
    }
  close_fd((int)folder);
}

/** Marks the descendants of marked processes, which may have cleared their environment. */
static void mark_descendants(void) {
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < process_count; i++) {
      if (marked[i]) continue;
      for (int j = 0; j < process_count; j++)
        if (marked[j] && pids[j] == parents[i]) marked[i] = 1, changed = 1;
    }
  }
}

static int kill_marked(const char *marker, int self) {
  int killed = 0;
  list_processes(marker, self);
  mark_descendants();
  // Stop all of them first, so that no parent can fork while the others are killed.
  for (int i = 0; i < process_count; i++)
    if (marked[i]) SYS(kill, pids[i], SIGSTOP, 0, 0, 0);
  for (int i = 0; i < process_count; i++)
    if (marked[i]) killed += SYS(kill, pids[i], SIGKILL, 0, 0, 0) == 0;
  return killed;
}

// args: the marker as `NAME=value`.
void __attribute__((noreturn)) guard_mode(char **args) {
  const char *marker = args[0];
  if (!marker || length(marker) < 8) fail("usage", EINVAL, "guard");
  unsigned long all = ~0UL;
  SYS(rt_sigprocmask, SIG_BLOCK, &all, NULL, 8, 0);
  SYS(setsid, 0, 0, 0, 0, 0);
  int self = (int)SYS(getpid, 0, 0, 0, 0, 0);
  read_until_host_exits();
  for (int clean = 0, round = 0; clean < CLEAN_ROUNDS && round < MAX_ROUNDS; round++) {
    int killed = kill_groups() + kill_marked(marker, self);
    clean = killed == 0 ? clean + 1 : 0;
    pause_shortly();
  }
  for (int i = 0; i < MAX_GROUPS; i++)
    if (groups[i][0]) SYS(unlinkat, AT_FDCWD, groups[i], AT_REMOVEDIR, 0, 0);
  exit_process(0);
}
