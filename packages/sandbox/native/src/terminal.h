#pragma once
#include "fail.h"

/** Unlocks the terminal whose other end the host holds as `master`, gives it a size and opens it. */
int open_terminal(int master, long cols, long rows, long owner);
/** In a new session: the terminal becomes its own, and its three streams. */
void take_terminal(int terminal);
