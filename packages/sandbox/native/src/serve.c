#include "command.h"
#include "modes.h"
#include "node-channel.h"

// Runs all commands of one sandbox, concurrently. The host writes requests to standard input. The response to a request
// is the command's pipes as handles, the supervisor's pid, one line when the command has started or failed to start, and
// one line when it has ended. This small process forks in a fraction of the time that Node needs, and its children start
// in its control groups, where joining one costs milliseconds.

#define PR_SET_PDEATHSIG 1
#define AF_UNIX 1
#define SOCK_STREAM 1
#define SOCK_CLOEXEC 02000000
#define F_SETFL 4
#define O_NONBLOCK 04000
#define CLONE_VFORK 0x00004000
#define POLLIN 1
#define GUARD_SECONDS 5
#define WNOHANG 1
#define PR_SET_CHILD_SUBREAPER 36
#define MAX_REQUEST (1 << 22)
#define MAX_WORDS 65536
#define MAX_COMMANDS 8192
#define HAS_INPUT 1
#define AS_ROOT 2
// The supervisor stays after the command's exit, so that processes left behind can still be found.
#define KEEP_AFTER_EXIT 4

struct request {
  unsigned int size, id, flags;
  int uid, gid;
  unsigned int words, variables;
  unsigned int capabilities_low, capabilities_high;
  unsigned int group_count;
  unsigned int groups[MAX_GROUPS];
};

/** A report of a supervisor or its command, sent in one write. */
struct record {
  unsigned int id;
  enum { started, failed, ended } kind;
  int value;
  int command;
  char text[240];
};

/** A command whose end is not reported yet. */
struct open_command {
  int supervisor;
  unsigned int id;
};

static struct open_command open_commands[MAX_COMMANDS];
static struct sandbox sandbox = {-1, -1, -1, -1, -1, -1};
static struct filter filters[2];
static int keeps_privileges;
static long owners = -1;
static int channel;
static int records[2];
static char text[MAX_REQUEST];
static char *words[MAX_WORDS];

/**
 * The host has exited. Without a PID namespace, the guard finds the commands' descendants only while this process, their
 * common ancestor, exists: wait for the guard to kill them.
 */
static void __attribute__((noreturn)) wait_for_guard(void) {
  long time[2] = {GUARD_SECONDS, 0};
  if (keeps_privileges) SYS(nanosleep, time, NULL, 0, 0, 0);
  exit_process(0);
}

static void read_exactly(void *into, size_t size) {
  char *at = into;
  while (size > 0) {
    long got = read_some(0, at, size);
    if (got == -EINTR) continue;
    if (got <= 0) wait_for_guard();
    at += got;
    size -= (size_t)got;
  }
}

static struct open_command *open_command(int supervisor, unsigned int id) {
  for (int i = 0; i < MAX_COMMANDS; i++)
    if (open_commands[i].supervisor == supervisor && open_commands[i].id == id) return &open_commands[i];
  return NULL;
}

static void write_record(const struct record *record) { write_some(records[1], record, sizeof *record); }

/** Splits the strings of a request: working directory, arguments, variables. Both lists end with NULL. */
static int split_words(const struct request *request) {
  size_t count = 1 + request->words + request->variables + 2, at = 0, word = 0;
  if (count > MAX_WORDS || request->words == 0) return 0;
  for (size_t i = 0; i < count; i++) {
    if (i == 1 + request->words || i == count - 1) {
      words[word++] = NULL;
      continue;
    }
    if (at >= request->size) return 0;
    words[word++] = text + at;
    at += length(text + at) + 1;
  }
  return at == request->size;
}

static void __attribute__((noreturn)) run_command(const struct request *request, const int *streams) {
  for (int fd = 0; fd < 3; fd++) must("streams", SYS(dup3, streams[fd], fd, 0, 0, 0), "dup");
  struct command command = {
      .argv = words + 1,
      .environment = words + 2 + request->words,
      .cwd = words[0],
      .uid = request->uid,
      .gid = request->gid,
      .groups = request->groups,
      .group_count = request->group_count < MAX_GROUPS ? request->group_count : MAX_GROUPS,
      .capabilities = (unsigned long)request->capabilities_high << 32 | request->capabilities_low,
      .keeps_privileges = keeps_privileges,
      .filter = &filters[request->flags & AS_ROOT ? 1 : 0],
      .terminal = -1,
  };
  become_command(&command, sandbox.user);
}

static unsigned int request_id;

/** Records that a supervisor could not enter the sandbox or that a command could not start. */
static void record_failure(const struct line *line) {
  struct record record = {.id = request_id, .kind = failed};
  size_t size = line->size < sizeof record.text ? line->size : sizeof record.text - 1;
  memcpy(record.text, line->at, size);
  write_record(&record);
}

static void __attribute__((noreturn)) supervise(const struct request *request, const int *streams) {
  request_id = request->id;
  on_failure = record_failure;
  close_fd(channel);
  become_supervisor(&sandbox);
  // With CLONE_VFORK, this returns once the command has executed its program or failed; the host uses the first report.
  long command = must("fork", SYS(clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0), "command");
  if (command == 0) run_command(request, streams);
  struct record record = {.id = request->id, .kind = started, .command = (int)command};
  write_record(&record);
  for (int fd = 0; fd < 3; fd++) {
    close_fd(streams[fd]);
    close_fd(fd);
  }
  for (;;) {
    int status;
    long child = wait_for(-1, &status, 0);
    if (child == command) {
      record.kind = ended;
      record.value = status;
      write_record(&record);
      if (!(request->flags & KEEP_AFTER_EXIT)) exit_process(0);
      command = -1;
    }
    if (child < 0 && child != -EINTR) exit_process(command == -1 ? 0 : 125);
  }
}

static void refuse(unsigned int id, const char *step, long error) {
  static struct line line;
  add(add_number(add(clear(&line), "{\"id\":"), id), ",\"failed\":\"");
  add(add_number(add(add(&line, step), " "), (unsigned long)error), " request\"}\n");
  send_line(channel, &line, -1);
}

static void handle_request(void) {
  struct request request;
  read_exactly(&request, sizeof request);
  if (request.size > MAX_REQUEST) exit_process(1);
  read_exactly(text, request.size);
  if (!split_words(&request)) {
    refuse(request.id, "exec", 7);
    return;
  }
  struct open_command *slot = open_command(0, 0);
  if (!slot) {
    refuse(request.id, "fork", EAGAIN);
    return;
  }
  int streams[3], ends[3] = {-1, -1, -1};
  for (int i = 0; i < 3; i++) {
    int pair[2];
    if (i == 0 && !(request.flags & HAS_INPUT)) {
      streams[0] = (int)open_at(AT_FDCWD, "/dev/null", O_RDONLY, 0);
      continue;
    }
    // Output uses pipes, since a socket cannot be reopened as /dev/stdout. Reopening requires that the user owns the pipe.
    long made = i == 0 ? SYS(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair, 0) : pipe_pair(pair);
    if (made < 0) {
      while (i-- > 0) {
        close_fd(streams[i]);
        if (ends[i] >= 0) close_fd(ends[i]);
      }
      refuse(request.id, "fork", EAGAIN);
      return;
    }
    if (i > 0 && owners >= 0 && request.uid >= 0) SYS(fchown, pair[1], owners + request.uid, owners + request.gid, 0, 0);
    SYS(fcntl, pair[0], F_SETFL, O_NONBLOCK, 0, 0);
    ends[i] = pair[0];
    streams[i] = pair[1];
  }
  for (int i = 0; i < 3; i++) {
    static struct line line;
    if (ends[i] < 0) continue;
    add(clear(&line), "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"id\":");
    add(add_number(add(add_number(&line, request.id), ",\"stream\":"), (unsigned long)i), "}}\n");
    send_line(channel, &line, ends[i]);
    close_fd(ends[i]);
  }
  long supervisor = fork_now();
  if (supervisor == 0) supervise(&request, streams);
  for (int i = 0; i < 3; i++) close_fd(streams[i]);
  if (supervisor < 0) {
    refuse(request.id, "fork", -supervisor);
    return;
  }
  *slot = (struct open_command){(int)supervisor, request.id};
  static struct line line;
  add(add_number(add(clear(&line), "{\"id\":"), request.id), ",\"keeper\":");
  add(add_number(&line, (unsigned long)supervisor), "}\n");
  send_line(channel, &line, -1);
}

static void report_end(unsigned int id, int status) {
  static struct line line;
  add(add_number(add(clear(&line), "{\"id\":"), id), ",\"ended\":");
  add(add_number(&line, (unsigned long)status), "}\n");
  send_line(channel, &line, -1);
}

/** Forwards one record to the host; false if there is none. */
static int forward_record(void) {
  struct record record;
  if (read_some(records[0], &record, sizeof record) != sizeof record) return 0;
  if (record.kind != started)
    for (int i = 0; i < MAX_COMMANDS; i++)
      if (open_commands[i].id == record.id) open_commands[i] = (struct open_command){0, 0};
  if (record.kind == ended) {
    report_end(record.id, record.value);
    return 1;
  }
  static struct line line;
  add(add_number(add(clear(&line), "{\"id\":"), record.id), "");
  if (record.kind == started) add_number(add(&line, ",\"started\":"), (unsigned long)record.command);
  if (record.kind == failed) {
    for (char *at = record.text; *at; at++)
      if (*at < ' ' || *at == '"' || *at == '\\' || *at > '~') *at = *at == '\n' ? 0 : '?';
    add(add(add(&line, ",\"failed\":\""), record.text), "\"");
  }
  add(&line, "}\n");
  send_line(channel, &line, -1);
  return 1;
}

/** Reaps supervisors and adopted orphans. */
static void reap(int ends) {
  char signals[512];
  read_some(ends, signals, sizeof signals);
  int status;
  for (long child; (child = wait_for(-1, &status, WNOHANG)) > 0;) {
    // The supervisor's last record comes before its exit.
    while (forward_record()) continue;
    for (int i = 0; i < MAX_COMMANDS; i++) {
      if (open_commands[i].supervisor != child) continue;
      // The supervisor reported no end: it was killed, and its command with it.
      report_end(open_commands[i].id, status);
      open_commands[i] = (struct open_command){0, 0};
    }
  }
}

// args: the channel's descriptor, then the sandbox's namespaces, `seccomp=`, `seccomp-root=`, `owners=`, `privileges=keep`.
void __attribute__((noreturn)) serve_mode(char **args) {
  args = private_arguments(args);
  channel = args[0] ? (int)number(args[0]) : -1;
  if (channel < 0) fail("usage", EINVAL, "serve");
  // Close the host's inherited descriptors, so that no command gets them.
  SYS(close_range, channel + 1, ~0U, 0, 0, 0);
  for (args++; *args; args++) {
    const char *value;
    if (parse_namespace_argument(&sandbox, *args)) continue;
    if ((value = after(*args, "seccomp="))) read_filter(&filters[0], value);
    else if ((value = after(*args, "seccomp-root="))) read_filter(&filters[1], value);
    else if ((value = after(*args, "owners="))) owners = number(value);
    else if (same(*args, "privileges=keep")) keeps_privileges = 1;
    else fail("usage", EINVAL, *args);
  }
  block_signals();
  if (keeps_privileges) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  else prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  unsigned long children = 1UL << (SIGCHLD - 1);
  int ends = (int)must("signals", SYS(signalfd4, -1, &children, 8, O_CLOEXEC | O_NONBLOCK, 0), "children");
  must("pipe", pipe_pair(records), "records");
  SYS(fcntl, records[0], F_SETFL, O_NONBLOCK, 0, 0);
  enter_pid_namespace(&sandbox);
  for (;;) {
    struct poll_entry entries[4] = {
        {0, POLLIN, 0}, {channel, POLLIN, 0}, {records[0], POLLIN, 0}, {ends, POLLIN, 0}};
    SYS(ppoll, entries, 4, NULL, NULL, 0);
    if (entries[2].happened) forward_record();
    if (entries[3].happened) reap(ends);
    if (entries[1].happened && !drain_channel(channel)) wait_for_guard();
    if (entries[0].happened) handle_request();
  }
}
