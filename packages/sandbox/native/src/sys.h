// The system calls this program uses, without a C library: the binary is small, static and the same everywhere.
#pragma once
#include <asm/unistd.h>
#include <linux/types.h>

typedef unsigned long size_t;
typedef long ssize_t;
#define NULL ((void *)0)

#if defined(__x86_64__)
static inline long sys(long n, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static inline long sys(long n, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#else
#error "no system calls for this architecture"
#endif

#define SYS(name, a, b, c, d, e) \
  sys(__NR_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

#define AT_FDCWD -100
#define F_OK 0
#define AT_EMPTY_PATH 0x1000
#define AT_RECURSIVE 0x8000
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_CLOEXEC 02000000
#define O_PATH 010000000
#if defined(__aarch64__)
#define O_DIRECTORY 040000
#define O_NOFOLLOW 0100000
#else
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#endif

#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define ECHILD 10
#define EAGAIN 11
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EINVAL 22

#define SIGHUP 1
#define SIGINT 2
#define SIGKILL 9
#define SIGTERM 15
#define SIGCHLD 17
#define SIGSTOP 19

#define CLONE_NEWNS 0x00020000
#define CLONE_NEWUSER 0x10000000

static inline long open_at(int dir, const char *path, int flags, int mode) {
  return SYS(openat, dir, path, flags | O_CLOEXEC, mode, 0);
}
static inline long read_some(int fd, void *into, size_t size) { return SYS(read, fd, into, size, 0, 0); }
static inline long write_some(int fd, const void *from, size_t size) { return SYS(write, fd, from, size, 0, 0); }
static inline void close_fd(int fd) { SYS(close, fd, 0, 0, 0, 0); }
static inline long fork_now(void) { return SYS(clone, SIGCHLD, 0, 0, 0, 0); }
static inline void __attribute__((noreturn)) exit_process(int code) {
  for (;;) SYS(exit_group, code, 0, 0, 0, 0);
}
static inline long wait_for(int pid, int *status, int options) { return SYS(wait4, pid, status, options, 0, 0); }
static inline long pipe_pair(int fds[2]) { return SYS(pipe2, fds, O_CLOEXEC, 0, 0, 0); }
static inline long prctl(long what, long a, long b, long c, long d) { return SYS(prctl, what, a, b, c, d); }
