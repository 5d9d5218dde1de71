import type { Syscall } from './syscalls.ts'

/** Fail with `EPERM` regardless of the arguments. */
export const forbidden: readonly Syscall[] = [
  // Access to another process: its memory, its descriptors, its secrets.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'kcmp',
  'pidfd_getfd',
  // Kernel interfaces in which most vulnerabilities were found.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'keyctl',
  'add_key',
  'request_key',
  'syslog',
  'lookup_dcookie',
  'nfsservctl',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  // Mounts and namespaces.
  'mount',
  'umount2',
  'pivot_root',
  'move_mount',
  'open_tree',
  'open_tree_attr',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'open_by_handle_at',
  'setns',
  // The machine: swap, clocks, accounting, ports, memory policy.
  'swapon',
  'swapoff',
  'reboot',
  'settimeofday',
  'clock_settime',
  'adjtimex',
  'clock_adjtime',
  'acct',
  'quotactl',
  'quotactl_fd',
  'vhangup',
  'iopl',
  'ioperm',
  'modify_ldt',
  'mbind',
  'move_pages',
  'migrate_pages',
  'set_mempolicy',
  'set_mempolicy_home_node',
]

/** Fail with `EPERM` except for the root of a private uid range: `dpkg --root` runs its scripts in a `chroot`. */
export const forbiddenToUsers: readonly Syscall[] = ['chroot']

/**
 * Fail with `ENOSYS`, which makes libc and libuv fall back as on an old kernel. The flags of `clone3` and the calls of an
 * io_uring are in memory, which a filter cannot read.
 */
export const absent: readonly Syscall[] = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register']

/** All `CLONE_NEW*` flags of `clone`, without `CLONE_NEWTIME`: there its bit is part of the exit signal. */
export const cloneNamespaces = 0x7e02_0000

/** The allowed flags of `unshare`: `VM FS FILES SIGHAND THREAD SYSVSEM`. All other flags are namespaces, now or later. */
export const unshareHarmless = 0x0005_0f00

/** The allowed arguments of `personality`: `PER_LINUX`, and the query for the current one. */
export const personalities: readonly number[] = [0, 0xffff_ffff]

/**
 * The allowed families: `UNIX INET INET6 NETLINK`. The others ignore network namespaces (`VSOCK` reaches the hypervisor
 * and every other listener on it) or are rarely used kernel code (`ALG`, `TIPC`, `KCM`).
 */
export const socketFamilies: readonly number[] = [1, 2, 10, 16]

/** `TIOCSTI` and `TIOCLINUX`, which insert input into the terminal that the sandbox was started from. */
export const forbiddenIoctls: readonly number[] = [0x5412, 0x541c]

/**
 * The setuid and setgid bits. A workspace's files belong to their owner on the host: if a sandbox could set these bits,
 * any user of the host who runs such a file would run it as that owner.
 */
export const setIdBits = 0o6000

/** The index of the mode argument. */
export const modeArguments = {
  chmod: 1,
  fchmod: 1,
  creat: 1,
  mknod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknodat: 2,
} as const satisfies Partial<Record<Syscall, number>>

/** The index of the flags argument. The mode follows it and is used only with `O_CREAT` or `O_TMPFILE`. */
export const openFlags = { open: 1, openat: 2 } as const satisfies Partial<Record<Syscall, number>>
export const makesFile = 0o20000100

/** Fails with `ENOSYS`: its flags and mode are in memory, which a filter cannot read. libc falls back to `openat`. */
export const absentWithoutSetId: readonly Syscall[] = ['openat2']
