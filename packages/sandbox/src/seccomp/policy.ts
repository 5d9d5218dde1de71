import type { Syscall } from './syscalls.ts'

/** `EPERM` whatever the arguments are. */
export const forbidden: readonly Syscall[] = [
  // Another process: its memory, its descriptors, its secrets.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'kcmp',
  'pidfd_getfd',
  // The kernel's own machinery, where most of its holes were found.
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
  // What the sandbox sees of the file system, and its namespaces.
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
  // The machine.
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

/** `EPERM` as well, but for the root of a private range of users: `dpkg` runs the scripts of `--root` in it. */
export const forbiddenToUsers: readonly Syscall[] = ['chroot']

/**
 * `ENOSYS`, which libc and libuv take as an old kernel and do without. The flags of `clone3` and the calls in
 * a ring stand in memory, where a filter cannot look.
 */
export const absent: readonly Syscall[] = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register']

/** Every `CLONE_NEW*` of `clone`. `CLONE_NEWTIME` is not among them: its bit is part of the exit signal there. */
export const cloneNamespaces = 0x7e02_0000

/** `VM FS FILES SIGHAND THREAD SYSVSEM`: what `unshare` may part from. Namespaces, known and to come, are the rest. */
export const unshareHarmless = 0x0005_0f00

/** `PER_LINUX`, and the question for the present one. */
export const personalities: readonly number[] = [0, 0xffff_ffff]

/**
 * `UNIX INET INET6 NETLINK`: the others know no network namespace (`VSOCK` reaches the machine's hypervisor and every
 * other listener on it) or are seldom-used kernel code (`ALG`, `TIPC`, `KCM`).
 */
export const socketFamilies: readonly number[] = [1, 2, 10, 16]

/** `TIOCSTI` and `TIOCLINUX` type into the terminal of whoever started the sandbox. */
export const forbiddenIoctls: readonly number[] = [0x5412, 0x541c]

/**
 * A workspace's files belong to their owner on the host. If a sandbox could set these bits, whoever runs such a file
 * on the host would run it as that owner.
 */
export const setIdBits = 0o6000

/** Which argument is the mode. */
export const modeArguments = {
  chmod: 1,
  fchmod: 1,
  creat: 1,
  mknod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknodat: 2,
} as const satisfies Partial<Record<Syscall, number>>

/** Where the flags are; the mode follows them, and counts when a file is made: `O_CREAT`, `O_TMPFILE`. */
export const openFlags = { open: 1, openat: 2 } as const satisfies Partial<Record<Syscall, number>>
export const makesFile = 0o20000100

/** Its flags and mode stand in memory; libc does without it. */
export const absentWithoutSetId: readonly Syscall[] = ['openat2']
