import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isRoot } from './fixtures/open-host.ts'
import { forEverySandboxUser } from './fixtures/sandbox-users.ts'

/** All files below a folder that are not world-readable. */
function privateFiles(folder: string, hidden = false): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) return []
    const { mode } = statSync(path)
    if (entry.isDirectory()) return privateFiles(path, hidden || (mode & 0o5) !== 0o5)
    return hidden || (mode & 0o4) === 0 ? [path] : []
  })
}

forEverySandboxUser(({ userCase, host, sandbox, output }) => {
  const writable = userCase.options.rootfs === 'writable'
  let outside: string

  beforeAll(() => {
    outside = mkdtempSync(join('/var/tmp', 'vitrine-outside-'))
    chmodSync(outside, 0o755)
    writeFileSync(join(outside, 'secret'), 'of the host')
  })
  afterAll(() => rmSync(outside, { recursive: true, force: true }))

  it.runIf(!writable)('writes nowhere but in its own folders', async () => {
    for (const folder of ['/', '/usr', '/usr/bin', '/etc', '/opt', '/var', '/home', '/root', '/proc'])
      expect(await output(`touch ${folder}/x 2>/dev/null && echo written`), folder).toBe('')
    expect(await output('(echo x >> /run/vitrine/machine) 2>/dev/null && echo written')).toBe('')
  })

  it.runIf(writable)("changes a system that is not the host's", async () => {
    await output(
      'touch /usr/vitrine-x /etc/vitrine-x /opt/vitrine-x; echo x >> /etc/hostname; rm -f /usr/bin/yes',
    )
    for (const path of ['/usr/vitrine-x', '/etc/vitrine-x', '/opt/vitrine-x'])
      expect(existsSync(path), path).toBe(false)
    expect(existsSync('/usr/bin/yes')).toBe(true)
    expect(await output('(echo x >> /run/vitrine/machine) 2>/dev/null && echo written')).toBe('')
  })

  it.runIf(isRoot)("a command cannot read files in /etc that only the host's root may read", async () => {
    const files = privateFiles('/etc')
    expect(files).toContain('/etc/shadow')
    const others = files.filter((path) => path !== '/etc/shadow' && path !== '/etc/gshadow')
    const list = others.map((path) => `'${path}'`).join(' ')
    expect(await output(`cat ${list} 2>/dev/null | wc -c`)).toBe('0')
    const shadow = await output('cat /etc/shadow /etc/gshadow 2>/dev/null')
    // A writable system has its own accounts, all with disabled passwords.
    if (userCase.user === 'root') expect(shadow).toMatch(/^root:\*:/)
    else expect(shadow).toBe('')
    expect(shadow).not.toMatch(/\$\w+\$/)
  })

  it.runIf(isRoot && writable)('finds no secret that is in /opt when the machine is built', async () => {
    const folder = mkdtempSync('/opt/vitrine-test-')
    try {
      chmodSync(folder, 0o755)
      writeFileSync(join(folder, 'key'), 'a secret', { mode: 0o600 })
      const other = await host().open(userCase.options)
      expect(await other.output(`cat ${folder}/key`, { ...(userCase.user && { user: userCase.user }) })).toBe(
        '',
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.runIf(isRoot)('finds no secret that is added to /etc later', async () => {
    const folder = mkdtempSync('/etc/vitrine-test-')
    try {
      chmodSync(folder, 0o755)
      writeFileSync(join(folder, 'key'), 'a new secret', { mode: 0o600 })
      expect(await output(`cat ${folder}/key`)).toBe('')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('finds no answers to private debconf questions', async () => {
    expect(await output('ls /var/cache/debconf/passwords.dat')).toBe('')
  })

  it("sees nothing of the host's other folders", async () => {
    expect(await output(`ls ${outside}; cat ${outside}/secret`)).toBe('')
    for (const folder of [
      '/root',
      '/home',
      '/srv',
      '/mnt',
      '/media',
      '/boot',
      '/sys',
      '/run',
      '/var/lib/private',
    ])
      expect(await output(`ls -A ${folder} | grep -v -x -e sandbox -e vitrine -e lock`), folder).toBe('')
    expect(await output('ls -d /work /var/log/* /var/backups')).toBe('')
  })

  it("sees nothing of the host's data directory but its own workspace", async () => {
    const { data } = host()
    writeFileSync(join(data, 'journal.sqlite'), 'events')
    expect(await output(`ls ${data}`)).toBe('sandboxes')
    expect(await output(`ls ${data}/sandboxes`)).toBe(sandbox().id)
    expect(await output(`ls -A ${dirname(sandbox().root)}`)).toBe('workspace')
    expect(await output(`cat ${data}/journal.sqlite`)).toBe('')
  })

  it('resolves symbolic links of its workspace inside the sandbox', async () => {
    await output(
      `ln -sfn ${outside}/secret link; ln -sfn /etc/shadow shadow; ln -sfn ../../../../../..${outside} up`,
    )
    expect(await output('cat link up/secret')).toBe('')
    if (userCase.user !== 'root') expect(await output('cat shadow')).toBe('')
  })

  it('a command does not escape when its working directory is moved away', async () => {
    const folder = join(sandbox().root, 'moved')
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    const { uid, gid } = statSync(sandbox().root)
    chownSync(folder, uid, gid)
    const walked = output(`cd moved; touch ready; while [ ! -e gone ]; do sleep 0.02; done
      for i in 1 2 3 4 5 6 7 8 9; do cd .. || cd -P .. ; cat secret ../secret .${outside}/secret; done 2>/dev/null`)
    while (!existsSync(join(folder, 'ready'))) await sleep(5)
    renameSync(folder, join(outside, 'moved'))
    writeFileSync(join(outside, 'moved/gone'), '')
    expect(await walked).toBe('')
  })

  it('a command does not escape when its workspace itself is moved', async () => {
    const { root } = sandbox()
    renameSync(root, `${root}-elsewhere`)
    try {
      expect(await output('cat ../state/* ../*/state/* ../../*/state/* | wc -c')).toBe('0')
    } finally {
      renameSync(`${root}-elsewhere`, root)
    }
  })

  it('a command does not escape through a nested chroot', async () => {
    expect(await output(`./probe leave-root ${outside}`)).toBe(
      userCase.user === 'root' ? 'in' : 'chroot EPERM',
    )
  })

  it("a command has a /tmp and a /dev/shm that are not the host's", async () => {
    writeFileSync('/tmp/vitrine-of-the-host', 'x')
    try {
      expect(await output('ls -A /tmp /dev/shm | grep vitrine')).toBe('')
    } finally {
      rmSync('/tmp/vitrine-of-the-host')
    }
  })
})
