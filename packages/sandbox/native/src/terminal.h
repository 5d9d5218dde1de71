#pragma once
#include "fail.h"

/** Unlocks the terminal whose master the host holds, sets its size and opens its other end. */
int open_terminal(int master, long cols, long rows, long owner);
/** Makes the terminal the controlling terminal of a new session, and its three streams. */
void take_terminal(int terminal);
