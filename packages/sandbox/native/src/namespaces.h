#pragma once
#include "fail.h"

/** A descriptor of the namespace at `path`, or -1 for none. */
int open_namespace(const char *path);
/** Enters it and closes the descriptor; -1 is passed over. */
void enter(int fd, const char *what);
/**
 * Without root, namespaces are entered from the outermost user namespace inwards: each gives the right to the next.
 * The innermost itself is left for the command to enter last.
 */
void enter_outer_user_namespaces(int innermost);
