#pragma once
#include "fail.h"

/** Opens the namespace at `path`; -1 if `path` is NULL. */
int open_namespace(const char *path);
/** Enters a namespace and closes its descriptor; does nothing for -1. */
void enter(int fd, const char *what);
/**
 * Without root, user namespaces must be entered from the outermost inwards: each grants the right to enter the next.
 * The command enters the innermost one last.
 */
void enter_outer_user_namespaces(int innermost);
