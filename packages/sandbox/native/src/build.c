#include <linux/mount.h>

#include "fail.h"
#include "modes.h"

// Runs as root on the host, in this order: maps private user ids, mounts everything that the sandbox sees of the host on a
// stage in a new mount namespace, enters the sandbox's user namespace, and executes bubblewrap.
//
//   uids=<first>            the first of 65,536 ids of the host that become ids 0 to 65,535 of the sandbox
//   owner=<uid>             the id inside that owns the files of `disk=` in an `own=` folder
//   disk=<uid>:<gid>        the owner of such a folder on the host
//   go=<fd>                 waits for a byte before it starts, so that the host can add this process to a cgroup first
//   bind=<name>:<path>      mounts <path> on the stage as <name>
//   own=<name>:<path>       like `bind=`, with its owner mapped
//   overlay=<name>:<path>:<folder>   mounts an overlay of <path> that writes its changes to <folder>
//   hide=<file>             a file with NUL-separated paths to remove from the stage

#define STAGE "/tmp"
#define SANDBOX_IDS 65536
// The id on disk of files that the sandbox's root creates in the workspace; the same for all starts.
#define ROOT_ON_DISK ((1UL << 30) - 2)
#define MAX_MOUNTS 64

enum kind { bind, own, overlay };

struct staged {
  enum kind kind;
  const char *name, *folder;
  int tree, changes;
};

static struct staged staged[MAX_MOUNTS];
static int staged_count;
static long first_uid = -1, owner_uid = 1000, disk_uid, disk_gid;

/** Creates a user namespace with this mapping and returns its descriptor. A child keeps it alive until it is open. */
static int user_namespace(const struct line *uids, const struct line *gids) {
  int ready[2], done[2];
  char byte;
  must("pipe", pipe_pair(ready), "ready");
  must("pipe", pipe_pair(done), "done");
  long child = must("fork", fork_now(), "user namespace");
  if (child == 0) {
    close_fd(done[1]);
    must("user namespace", SYS(unshare, CLONE_NEWUSER, 0, 0, 0, 0), "unshare");
    write_some(ready[1], "r", 1);
    read_some(done[0], &byte, 1);
    exit_process(0);
  }
  close_fd(ready[1]);
  if (read_some(ready[0], &byte, 1) != 1) fail("user namespace", EINVAL, "no user namespace to be had");
  static struct line path;
  add(add_number(add(clear(&path), "/proc/"), (unsigned long)child), "/uid_map");
  must("user ids", write_file(path.at, uids), path.at);
  add(add_number(add(clear(&path), "/proc/"), (unsigned long)child), "/gid_map");
  must("user ids", write_file(path.at, gids), path.at);
  add(add_number(add(clear(&path), "/proc/"), (unsigned long)child), "/ns/user");
  int fd = (int)must("user namespace", open_at(AT_FDCWD, path.at, O_RDONLY, 0), path.at);
  close_fd(done[1]);
  close_fd(done[0]);
  close_fd(ready[0]);
  int status;
  while (wait_for((int)child, &status, 0) == -EINTR) continue;
  return fd;
}

static struct line *mapping(struct line *line, unsigned long inside, unsigned long outside, unsigned long count) {
  return add(add_number(add(add_number(add(add_number(line, inside), " "), outside), " "), count), "\n");
}

static int open_tree_of(const char *path) {
  return (int)must("open", SYS(open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE, 0, 0), path);
}

static void map_ids(int tree, int namespace, const char *path) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned long)namespace};
  must("idmap", SYS(mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes), path);
}

/** Terminates `text` at its first colon and returns the rest. */
static char *cut(char *text) {
  for (; *text; text++)
    if (*text == ':') {
      *text = 0;
      return text + 1;
    }
  fail("usage", EINVAL, text);
}

static void stage(enum kind kind, char *name) {
  if (staged_count == MAX_MOUNTS) fail("usage", EINVAL, "too many mounts");
  char *path = cut(name);
  struct staged one = {.kind = kind, .name = name, .changes = -1};
  if (kind == overlay) {
    char *folder = cut(path);
    one.changes = open_tree_of(folder);
    one.folder = folder;
  }
  // An overlay or an owned folder must be one file system, since the id mapping does not apply to mounts below it.
  one.tree = kind == bind ? open_tree_of(path)
                          : (int)must("open", SYS(open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, 0, 0), path);
  staged[staged_count++] = one;
}

static int is_folder(int fd) {
  static struct line path;
  add_number(add(clear(&path), "/proc/self/fd/"), (unsigned long)fd);
  long opened = open_at(AT_FDCWD, path.at, O_PATH | O_DIRECTORY, 0);
  if (opened >= 0) close_fd((int)opened);
  return opened >= 0;
}

static void put(int tree, const char *path) {
  if (is_folder(tree)) {
    must("stage", SYS(mkdirat, AT_FDCWD, path, 0755, 0, 0), path);
  } else {
    close_fd((int)must("stage", open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0644), path));
  }
  must("stage", SYS(move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), path);
}

static void put_overlay(const struct staged *one, unsigned long index) {
  static struct line lower, changes, merged, options;
  add_number(add(clear(&lower), STAGE "/.lower"), index);
  add_number(add(clear(&changes), STAGE "/.changes"), index);
  add(add(clear(&merged), STAGE "/"), one->name);
  put(one->tree, lower.at);
  put(one->changes, changes.at);
  add(add(clear(&options), "lowerdir="), lower.at);
  add(add(add(&options, ",upperdir="), changes.at), "/upper");
  add(add(add(&options, ",workdir="), changes.at), "/work");
  must("stage", SYS(mkdirat, AT_FDCWD, merged.at, 0755, 0, 0), merged.at);
  must("overlay", SYS(mount, "overlay", merged.at, "overlay", MS_NOSUID | MS_NODEV, options.at), one->name);
}

static void hide_all(int file) {
  static char paths[1 << 20];
  size_t size = 0;
  for (long got; (got = read_some(file, paths + size, sizeof paths - 1 - size)) > 0;) size += (size_t)got;
  close_fd(file);
  if (size == sizeof paths - 1) fail("hide", EINVAL, "too many paths");
  static struct line path;
  for (const char *at = paths; at < paths + size; at += length(at) + 1) {
    add(add(clear(&path), STAGE "/"), at);
    long result = SYS(unlinkat, AT_FDCWD, path.at, 0, 0, 0);
    if (result != -ENOENT) must("hide", result, at);
  }
}

void __attribute__((noreturn)) build_mode(char **args, char **environment) {
  int hidden = -1;
  long go = -1;
  char **command = NULL;
  for (; *args && !command; args++) {
    const char *value;
    if (same(*args, "--")) command = args + 1;
    else if ((value = after(*args, "uids="))) first_uid = number(value);
    else if ((value = after(*args, "owner="))) owner_uid = number(value);
    else if (after(*args, "disk=")) {
      char *gid = cut(*args + 5);
      disk_uid = number(*args + 5);
      disk_gid = number(gid);
    } else if ((value = after(*args, "go="))) go = number(value);
    else if ((value = after(*args, "hide="))) hidden = (int)must("hide", open_at(AT_FDCWD, value, O_RDONLY, 0), value);
    else if (after(*args, "bind=")) stage(bind, *args + 5);
    else if (after(*args, "own=")) stage(own, *args + 4);
    else if (after(*args, "overlay=")) stage(overlay, *args + 8);
    else fail("usage", EINVAL, *args);
  }
  if (!command || !command[0] || first_uid < SANDBOX_IDS || owner_uid <= 0 || disk_uid < 0 || disk_gid < 0) fail("usage", EINVAL, "build");
  if (go >= 0) {
    char byte;
    if (read_some((int)go, &byte, 1) != 1) exit_process(0);
    if (go > 2) close_fd((int)go);
  }

  static struct line uids, gids;
  unsigned long first = (unsigned long)first_uid, owner = first + (unsigned long)owner_uid;
  mapping(clear(&uids), 0, first, SANDBOX_IDS);
  int sandbox_ids = user_namespace(&uids, &uids);
  mapping(mapping(clear(&uids), (unsigned long)disk_uid, owner, 1), ROOT_ON_DISK, first, 1);
  mapping(mapping(clear(&gids), (unsigned long)disk_gid, owner, 1), ROOT_ON_DISK, first, 1);
  int owner_ids = user_namespace(&uids, &gids);

  must("mounts", SYS(unshare, CLONE_NEWNS, 0, 0, 0, 0), "unshare");
  must("mounts", SYS(mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "/");
  for (int i = 0; i < staged_count; i++) {
    if (staged[i].kind == own) map_ids(staged[i].tree, owner_ids, staged[i].name);
    if (staged[i].kind == overlay) map_ids(staged[i].tree, sandbox_ids, staged[i].name);
  }
  must("stage", SYS(mount, "tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"), STAGE);
  for (int i = 0; i < staged_count; i++) {
    static struct line path;
    if (staged[i].kind == overlay) put_overlay(&staged[i], (unsigned long)i);
    else put(staged[i].tree, add(add(clear(&path), STAGE "/"), staged[i].name)->at);
  }
  if (hidden >= 0) hide_all(hidden);

  must("user ids", SYS(setgroups, 0, NULL, 0, 0, 0), "setgroups");
  must("user ids", SYS(setns, sandbox_ids, CLONE_NEWUSER, 0, 0, 0), "setns");
  must("user ids", SYS(setresgid, 0, 0, 0, 0, 0), "setresgid");
  must("user ids", SYS(setresuid, 0, 0, 0, 0, 0), "setresuid");
  static struct line zero;
  must("user namespaces", write_file("/proc/sys/user/max_user_namespaces", add(clear(&zero), "0")), "max_user_namespaces");
  fail("exec", -SYS(execve, command[0], command, environment, 0, 0), command[0]);
}
