import { describe, expect, it } from 'vitest'
import { bubblewrapArguments, type Layout } from '../../../src/machine/bubblewrap/layout.ts'

const plain: Layout = {
  system: [{ path: '/usr' }, { path: '/bin', link: 'usr/bin' }],
  mounts: [],
  network: 'none',
  changeable: false,
  infoFd: 3,
  init: ['/run/vitrine/machine', 'init', '4'],
}

function argumentsOf(change: Partial<Layout> = {}): string {
  return bubblewrapArguments({ ...plain, ...change }).join(' ')
}

describe('the arguments of bubblewrap', () => {
  it('builds the arguments for a read-only system', () => {
    expect(bubblewrapArguments(plain)).toEqual([
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
      ...['--cap-drop', 'ALL'],
      ...['--die-with-parent', '--hostname', 'sandbox', '--as-pid-1', '--info-fd', '3'],
      ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
      ...['--proc', '/proc', '--dev', '/dev'],
      ...['--perms', '1777', '--tmpfs', '/dev/shm', '--perms', '1777', '--tmpfs', '/tmp'],
      ...['--perms', '0755', '--dir', '/var', '--perms', '1777', '--tmpfs', '/var/tmp'],
      ...['--perms', '0755', '--tmpfs', '/run', '--perms', '0700', '--dir', '/root'],
      ...['--remount-ro', '/', '--chdir', '/'],
      ...['--', '/run/vitrine/machine', 'init', '4'],
    ])
  })

  it("shares the host's network only on request", () => {
    expect(argumentsOf()).toContain('--unshare-net')
    expect(argumentsOf({ network: 'host' })).not.toContain('--unshare-net')
  })

  it("maps an ordinary user to the sandbox's user and disables further user namespaces", () => {
    const given = argumentsOf({ ownUser: { uid: 1_000, gid: 1_000 } })
    expect(given).toContain('--unshare-user --uid 1000 --gid 1000 --disable-userns')
    expect(given).not.toContain('--cap-drop')
  })

  it('mounts the copies of a writable system writable', () => {
    const given = argumentsOf({ changeable: true, system: [{ path: '/usr', copy: '/tmp/usr' }] })
    expect(given).toContain('--bind /tmp/usr /usr')
    expect(given).not.toContain('--remount-ro')
    expect(given).not.toContain('/var/tmp')
  })

  it('creates the parents of a mount from the top down before the mount', () => {
    const mounts = [{ source: '/srv/x', target: '/a/b/c', writable: true }]
    expect(argumentsOf({ mounts })).toContain(
      '--perms 0755 --dir /a --perms 0755 --dir /a/b --bind /srv/x /a/b/c',
    )
  })

  it('keeps mounts in order, read-only by default, and after the system', () => {
    const mounts = [
      { source: '/one', target: '/usr/one', writable: false },
      { source: '/two', target: '/two', writable: true },
    ]
    const given = argumentsOf({ mounts })
    expect(given).toMatch(
      /--ro-bind \/usr \/usr .*--perms 0755 --dir \/usr --ro-bind \/one \/usr\/one --bind \/two \/two --remount-ro/,
    )
  })
})
