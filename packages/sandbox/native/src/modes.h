#pragma once

/** The first process of a sandbox: it reaps, and while it lives the sandbox lives. */
void __attribute__((noreturn)) init_mode(char **args);
/** Runs one command inside a sandbox and ends as the command ended. */
void __attribute__((noreturn)) run_mode(char **args, char **environment);
/** Runs commands inside a sandbox, for as long as the host asks. */
void __attribute__((noreturn)) serve_mode(char **args);
/** Under root: private uids, a writable system, then bubblewrap. */
void __attribute__((noreturn)) build_mode(char **args, char **environment);
/** Opens sockets in a sandbox's network and hands them to the host. */
void __attribute__((noreturn)) portal_mode(char **args);
/** Waits for its host to die, then ends everything that carries the host's marker. */
void __attribute__((noreturn)) guard_mode(char **args);
/** Tells a terminal its new size. */
void __attribute__((noreturn)) resize_mode(char **args);
