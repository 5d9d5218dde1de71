import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Host, isRoot, openHost, putProbe, reasonToSkip, type Sandbox } from './fixtures/open-host.ts'

const setIdBits = 0o6000
const ways = [
  ...[
    'chmod',
    'fchmod',
    'fchmodat',
    'fchmodat2',
    'setgid-only',
    'high-word',
    'open',
    'creat',
    'mknod',
    'tmpfile',
  ],
  'socket',
]

const situations = [
  { what: "an ordinary host's own workspace", as: 'ordinary', given: false, options: {}, users: ['sandbox'] },
  { what: "a root host's own workspace", as: 'self', given: false, options: {}, users: ['sandbox'] },
  { what: "a folder of root's", as: 'self', given: true, options: {}, users: ['sandbox'] },
  {
    what: "a folder of root's, with a writable system",
    as: 'self',
    given: true,
    options: { rootfs: 'writable' },
    users: ['sandbox', 'root'],
  },
] as const

for (const { what, as, given, options, users } of situations) {
  describe.skipIf(reasonToSkip(as, as === 'self'))(what, () => {
    let host: Host
    let sandbox: Sandbox
    let parent: string

    beforeAll(async () => {
      host = openHost({ as })
      parent = mkdtempSync(join('/var/tmp', 'vitrine-given-'))
      // Accessible to every user of this machine.
      chmodSync(parent, 0o755)
      sandbox = await host.open(given ? { ...options, root: join(parent, 'project') } : options)
      putProbe(sandbox.root)
    })
    afterAll(async () => {
      await host.close()
      rmSync(parent, { recursive: true, force: true })
    })

    it.each(users)('%s cannot make a file setuid or setgid in any way', async (user) => {
      await sandbox.exec('rm -rf made-* plain')
      const said = await sandbox.output('./probe set-id', { user })
      const answers = new Map(
        said.split('\n').map((line): [string, string] => [line.split(' ')[0] ?? '', line]),
      )
      for (const way of ways) expect(answers.get(way)).toBe(`${way} EPERM`)
      expect(answers.get('openat2')).toBe('openat2 ENOSYS')
      for (const name of readdirSync(sandbox.root))
        expect([name, lstatSync(join(sandbox.root, name)).mode & setIdBits]).toEqual([name, 0])
    })

    it.each(users)('%s makes ordinary files with ordinary modes', async (user) => {
      const made = await sandbox.exec(
        'd=d-$$; mkdir $d && cd $d && touch f && chmod 755 f && chmod +t . && mkfifo p && ln f g',
        { user },
      )
      expect([made.exitCode, made.stderr]).toEqual([0, ''])
    })

    it.each(users)('%s cannot create a device or give a file to a user of the host', async (user) => {
      expect(
        await sandbox.output(
          'mknod disk b 254 0 2>/dev/null && echo made; mknod null c 1 3 2>/dev/null && echo made',
          { user },
        ),
      ).toBe('')
      expect(
        await sandbox.output('touch mine-$$; chown 70000 mine-$$ 2>/dev/null && echo given', { user }),
      ).toBe('')
    })

    it.runIf(as === 'self' && isRoot).each(users)(
      '%s cannot give a program privileges on the host',
      async (user) => {
        await sandbox.exec(`cp /usr/bin/cat reader-${user}`, { user })
        for (const rootid of [0, 1, 1_000])
          await sandbox.output(`./probe capability reader-${user} ${rootid}`, { user })
        const tries = spawnSync(
          'setpriv',
          [
            '--reuid',
            '65000',
            '--regid',
            '65000',
            '--clear-groups',
            join(sandbox.root, `reader-${user}`),
            '/etc/shadow',
          ],
          { encoding: 'utf8' },
        )
        expect(tries.stdout ?? '').toBe('')
        expect(
          spawnSync('getcap', [join(sandbox.root, `reader-${user}`)], { encoding: 'utf8' }).stdout ?? '',
        ).toBe('')
      },
    )
  })
}

describe.skipIf(reasonToSkip('self', true))('a HOME that another user owns', () => {
  it('keeps its owner after a sandbox was refused', async () => {
    await using host = openHost()
    const folder = mkdtempSync(join('/var/tmp', 'vitrine-theirs-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const home = join(folder, 'home')
    mkdirSync(home)
    chownSync(home, 4_444, 4_444)
    const sandbox = host.open({ root: join(folder, 'project'), home })
    await expect(sandbox).rejects.toMatchObject({ code: 'argument_invalid' })
    expect(lstatSync(home).uid).toBe(4_444)
  })
})
