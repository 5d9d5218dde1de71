// vitrine-machine: the native part of a Linux sandbox. The TypeScript in ../../src/machine starts it.
#include "fail.h"
#include "modes.h"

int __attribute__((used)) start(long *stack) {
  int count = (int)stack[0];
  char **args = (char **)(stack + 1);
  char **environment = args + count + 1;
  if (count >= 2) {
    if (same(args[1], "init")) init_mode(args + 2);
    if (same(args[1], "run")) run_mode(args + 2, environment);
    if (same(args[1], "serve")) serve_mode(args + 2);
    if (same(args[1], "build")) build_mode(args + 2, environment);
    if (same(args[1], "portal")) portal_mode(args + 2);
    if (same(args[1], "resize")) resize_mode(args + 2);
    if (same(args[1], "guard")) guard_mode(args + 2);
  }
  fail("usage", EINVAL, "vitrine-machine init|run|serve|build|portal|resize|guard");
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call start\n hlt\n");
#else
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n mov x0, sp\n bl start\n brk #1\n");
#endif
