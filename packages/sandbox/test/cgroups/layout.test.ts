import { describe, expect, test } from 'vitest'
import { hierarchies } from '../../src/cgroups/layout.ts'
import { parseMounts } from '../../src/cgroups/mounts.ts'
import { parsePositions } from '../../src/cgroups/positions.ts'

const layout = (mountinfo: string, own: string) => hierarchies(parseMounts(mountinfo), parsePositions(own))

describe('hierarchies', () => {
  test("lists the folders of a machine with v2 only, from the user's own scope up", () => {
    const found = layout(
      `24 1 0:22 / /proc rw,nosuid - proc proc rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,seclabel,nsdelegate,memory_recursiveprot`,
      '0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n',
    )
    expect(found).toEqual([
      {
        version: 2,
        controllers: [],
        writable: true,
        folders: [
          '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope',
          '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice',
          '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service',
          '/sys/fs/cgroup/user.slice/user-1000.slice',
          '/sys/fs/cgroup/user.slice',
          '/sys/fs/cgroup',
        ],
      },
    ])
  })

  test('lists v2 first on a hybrid machine, and of v1 only the useful hierarchies', () => {
    const found = layout(
      `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`,
      '9:name=systemd:/\n4:memory:/api/one\n3:cpu,cpuacct:/two\n6:freezer:/\n0::/\n',
    )
    expect(found.map(({ version, controllers, folders }) => [version, controllers, folders])).toEqual([
      [2, [], ['/sys/fs/cgroup/unified']],
      [1, ['cpu'], ['/sys/fs/cgroup/cpu,cpuacct/two', '/sys/fs/cgroup/cpu,cpuacct']],
      [
        1,
        ['memory'],
        ['/sys/fs/cgroup/memory/api/one', '/sys/fs/cgroup/memory/api', '/sys/fs/cgroup/memory'],
      ],
      [1, ['freezer'], ['/sys/fs/cgroup/freezer']],
    ])
  })

  test('lists the mount point of a v1 container as read-only', () => {
    const found = layout(
      '900 899 0:32 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory',
      '4:memory:/docker/abc\n',
    )
    expect(found).toEqual([
      { version: 1, controllers: ['memory'], writable: false, folders: ['/sys/fs/cgroup/memory'] },
    ])
  })

  test('lists the mount point of a v2 container with its own namespace as read-only', () => {
    const found = layout('900 899 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw', '0::/\n')
    expect(found).toEqual([{ version: 2, controllers: [], writable: false, folders: ['/sys/fs/cgroup'] }])
  })

  test.each([
    ['below the mounted part', '/docker/abc', '/docker/abc/in', ['/cg/in', '/cg']],
    ['beside the mounted part', '/docker/abc', '/docker/abcd', ['/cg']],
    ['outside of the namespace', '/', '/../other', ['/cg']],
    ['at the root', '/', '/', ['/cg']],
  ])('lists the folders for a process %s', (_, root, position, folders) => {
    const [found] = layout(`9 8 0:1 ${root} /cg rw - cgroup2 cgroup2 rw`, `0::${position}\n`)
    expect(found?.folders).toEqual(folders)
  })

  test('prefers the writable one of several mounts of a hierarchy', () => {
    const [found, ...others] = layout(
      `9 8 0:1 / /first ro - cgroup2 cgroup2 rw
9 8 0:1 / /second rw - cgroup2 cgroup2 rw
9 8 0:1 / /third rw - cgroup2 cgroup2 rw`,
      '0::/\n',
    )
    expect(found?.folders).toEqual(['/second'])
    expect(others).toEqual([])
  })

  test('lists nothing on a machine without cgroups', () => {
    expect(layout('24 1 0:22 / /proc rw,nosuid - proc proc rw\n', '')).toEqual([])
  })
})

test('parseMounts reads blanks in paths', () => {
  expect(parseMounts('9 8 0:1 / /a\\040b\\134c rw shared:1 - cgroup2 none rw')[0]?.path).toBe('/a b\\c')
})

test('parsePositions keeps colons in names of groups', () => {
  expect(parsePositions('3:cpu,cpuacct:/a:b\n0::/c\nnonsense\n')).toEqual(
    new Map([
      ['cpu', '/a:b'],
      ['cpuacct', '/a:b'],
      ['', '/c'],
    ]),
  )
})
