#include "terminal.h"

#include <asm/ioctls.h>

#include "modes.h"

#define O_NOCTTY 0400

struct window_size {
  unsigned short rows, cols, unused_x, unused_y;
};

static void set_size(int fd, long cols, long rows) {
  struct window_size size = {(unsigned short)rows, (unsigned short)cols, 0, 0};
  must("terminal", SYS(ioctl, fd, TIOCSWINSZ, &size, 0, 0), "size");
}

int open_terminal(int master, long cols, long rows, long owner) {
  int unlocked = 0;
  must("terminal", SYS(ioctl, master, TIOCSPTLCK, &unlocked, 0, 0), "unlock");
  set_size(master, cols, rows);
  int terminal = (int)must("terminal", SYS(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC, 0, 0), "open");
  if (owner >= 0) must("terminal", SYS(fchown, terminal, owner, owner, 0, 0), "owner");
  close_fd(master);
  return terminal;
}

void take_terminal(int terminal) {
  must("terminal", SYS(ioctl, terminal, TIOCSCTTY, 0, 0, 0), "take");
  for (int fd = 0; fd < 3; fd++) must("terminal", SYS(dup3, terminal, fd, 0, 0, 0), "streams");
  close_fd(terminal);
}

// args: the descriptor of the host's end, columns, rows.
void __attribute__((noreturn)) resize_mode(char **args) {
  if (!args[0] || !args[1] || !args[2]) fail("usage", EINVAL, "resize");
  set_size((int)number(args[0]), number(args[1]), number(args[2]));
  exit_process(0);
}
