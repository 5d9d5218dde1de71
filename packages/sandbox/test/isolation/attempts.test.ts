import { beforeAll, expect, it } from 'vitest'
import { forEverySandboxUser } from './fixtures/sandbox-users.ts'

/** The attempts of the probe, by the error that they must fail with. */
const refusals = {
  EPERM: [
    ...[
      'mount-tmpfs',
      'mount-proc',
      'bind-root',
      'remount-root',
      'remount-usr',
      'share-root',
      'unmount-proc',
    ],
    ...['pivot-root', 'open-tree', 'fsopen', 'mount-setattr'],
    ...['unshare-user', 'unshare-mounts', 'unshare-network', 'clone-user', 'clone-pids', 'setns'],
    ...['ptrace-init', 'ptrace-supervisor', 'ptrace-child', 'ptrace-me'],
    ...['process-vm-readv', 'process-vm-writev', 'pidfd-getfd'],
    ...['keyctl', 'add-key', 'bpf', 'perf', 'userfaultfd', 'init-module', 'finit-module'],
    ...['reboot', 'swapon', 'syslog', 'sethostname', 'mknod-block', 'mknod-mem', 'open-by-handle', 'tiocsti'],
    ...['raw-socket', 'loopback-down', 'capset', 'ambient'],
  ],
  ENOSYS: ['clone3-user', 'io-uring'],
  'EPERM or EAFNOSUPPORT': ['packet-socket', 'vsock', 'alg-socket', 'bluetooth-socket'],
  EINVAL: ['unset-no-new-privs', 'uid-outside'],
  EACCES: ['nice'],
} as const
const table = Object.entries(refusals).flatMap(([errno, names]) =>
  names.map((name) => [name, errno] as const),
)

forEverySandboxUser(({ output }) => {
  let answers: ReadonlyMap<string, string>

  beforeAll(async () => {
    const lines = (await output('./probe attempts')).split('\n')
    answers = new Map(
      lines.map((line): [string, string] => [line.split(' ')[0] ?? '', line.split(' ')[1] ?? '']),
    )
  })

  it.each(table)('fails the attempt %s with %s', (name, errno) => {
    expect(errno.split(' or ')).toContain(answers.get(name))
  })

  it('makes no attempt without a test', () => {
    expect([...answers.keys()].toSorted()).toEqual(table.map(([name]) => name).toSorted())
  })
})
