#pragma once

/** The first process of a sandbox: reaps orphans; the sandbox ends with it. */
void __attribute__((noreturn)) init_mode(char **args);
/** Runs one command inside a sandbox and exits with the command's status. */
void __attribute__((noreturn)) run_mode(char **args, char **environment);
/** Runs commands inside a sandbox on request until the host exits. */
void __attribute__((noreturn)) serve_mode(char **args);
/** As root: sets up private uids and a writable system, then executes bubblewrap. */
void __attribute__((noreturn)) build_mode(char **args, char **environment);
/** Opens sockets in a sandbox's network namespace and passes them to the host. */
void __attribute__((noreturn)) portal_mode(char **args);
/** Waits for the host to exit, then kills every process that carries the host's marker. */
void __attribute__((noreturn)) guard_mode(char **args);
/** Sets the size of a terminal. */
void __attribute__((noreturn)) resize_mode(char **args);
