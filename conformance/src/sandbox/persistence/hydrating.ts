import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually, withTimeLimit } from '../../waiting/within.ts'
import { tarOf } from '../archives/tar-bytes.ts'
import { bytesOf } from '../archives/unpack-calls.ts'
import { manifestOf } from '../archives/workspace.ts'
import { allEvents, operationsOf, typesOf } from '../events.ts'
import { outputOf, readText } from '../files/content.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { faultsOf } from '../watching/changes.ts'
import { transfer } from './transfer.ts'

export function hydratingCases(make: MakeSandbox): void {
  describe('hydrating', () => {
    const shared = sharedSandbox(make)

    it('hydrate replaces everything and removes files that are not in the archive', async () => {
      const under = await shared()
      const { sandbox } = under
      await sandbox.exec(
        'mkdir -p old/deep dir locked && echo old > old/deep/f && echo old > dir/f && ln -s old link && echo x > .hidden && chmod 500 locked && echo x > swap && mkdir pws',
      )
      await sandbox.hydrate(
        tarOf(
          { name: 'dir/g', content: 'new' },
          { name: 'link/f', content: 'now a directory' },
          { name: 'swap/f', content: 'was a file' },
          { name: 'pws', content: 'was a directory' },
        ),
      )
      expect(await outputOf(sandbox, 'find . -mindepth 1 -printf "%P %y\\n" | sort')).toBe(
        ['dir d', 'dir/g f', 'link d', 'link/f f', 'pws f', 'swap d', 'swap/f f'].join('\n'),
      )
      if (sandbox.capabilities.watching !== 'none') expect(await faultsOf(under)).toEqual([])
    })

    it('hydrate records every change, also for large trees', async ({ skip }) => {
      const under = await shared()
      const { sandbox } = under
      if (sandbox.capabilities.watching === 'none') skip()
      await sandbox.exec(
        'for i in $(seq 30); do mkdir -p a$i/b; for j in 1 2 3 4 5; do echo $i > a$i/b/$j; done; done',
      )
      const first = await bytesOf(await sandbox.persist())
      await sandbox.exec(
        'rm -r a1 a2 a3; for i in $(seq 20 50); do mkdir -p a$i/c; echo new > a$i/c/f; done; mv a10 moved; find . -depth -exec touch -d @1577934245.123456 {} +',
      )
      const second = await manifestOf(sandbox)
      const archive = await bytesOf(await sandbox.persist())
      await sandbox.hydrate(first)
      expect(await faultsOf(under)).toEqual([])
      await sandbox.hydrate(archive)
      expect(await manifestOf(sandbox)).toEqual(second)
      expect(await faultsOf(under)).toEqual([])
    })

    it('hydrate keeps the root directory, so a process in it sees the new files', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('echo old > file; mkdir sub')
      const inode = await outputOf(sandbox, 'stat -c %i .')
      const standing = await sandbox.spawn(
        'while [ ! -e new ]; do sleep 0.02; done; cat new; ls; echo back > answer',
      )
      await sandbox.hydrate(tarOf({ name: './', type: '5', mode: 0o755 }, { name: 'new', content: 'seen\n' }))
      expect(await withTimeLimit('the process', standing.exit)).toMatchObject({ outcome: 'ok' })
      expect(await readText(sandbox, 'answer')).toBe('back\n')
      expect(await outputOf(sandbox, 'stat -c %i .; ls')).toBe(`${inode}\nanswer\nnew`)
    })

    it('hydrate sets mode and time of the root only if the archive has them', async () => {
      const { sandbox } = await shared()
      const before = await outputOf(sandbox, 'stat -c %a .')
      await sandbox.hydrate(tarOf({ name: 'f' }))
      expect(await outputOf(sandbox, 'stat -c %a .')).toBe(before)
      await sandbox.hydrate(tarOf({ name: './', type: '5', mode: 0o750, mtime: 1_000_000 }, { name: 'f' }))
      expect(await outputOf(sandbox, 'stat -c "%a %Y" .')).toBe('750 1000000')
    })

    it.each([
      ['000', '700'],
      ['077', '777'],
      ['555', '755'],
      ['1411', '1711'],
    ])('hydrate of a root of mode %s leaves the sandbox usable', async (given, kept) => {
      const under = await shared()
      const { sandbox } = under
      const mode = Number.parseInt(given, 8)
      await sandbox.hydrate(tarOf({ name: './', type: '5', mode }, { name: 'f', content: 'x' }))
      expect(await outputOf(sandbox, 'cat f && echo y > new && stat -c %a .')).toBe(`x${kept}`)
      await sandbox.files.write('written', 'z')
      const saved = await bytesOf(await sandbox.persist())
      await sandbox.hydrate(saved)
      expect(await outputOf(sandbox, 'cat new written')).toBe('y\nz')
      if (sandbox.capabilities.watching !== 'none') expect(await faultsOf(under)).toEqual([])
    })

    it('hydrate takes tars made by other tools, also compressed', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir -p t/d && echo x > t/d/f && ln -s d/f t/l && tar czf a.tgz -C t . && tar cf a.tar -C t d l',
      )
      const archives = await Promise.all(
        ['a.tgz', 'a.tar'].map(async (name) => bytesOf(await sandbox.files.read(name))),
      )
      for (const archive of archives) {
        expect(await sandbox.hydrate(archive)).toMatchObject({ files: 1, directories: 1, links: 1 })
        expect(await outputOf(sandbox, 'cat l; ls -A')).toBe('x\nd\nl')
      }
    })

    it('hydrating a workspace from its own persist stream changes nothing', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkdir -p a/b && seq 20000 > a/b/f && ln a/b/f g && ln -s g l')
      await sandbox.exec('find . -depth -exec touch -h -d @1577934245.123456 {} +')
      const before = await manifestOf(sandbox)
      await transfer(sandbox, sandbox)
      expect(await manifestOf(sandbox)).toEqual(before)
    })

    it('hydrate drops setuid and setgid bits, and names the files', async () => {
      const { sandbox } = await shared()
      const { leftOut } = await sandbox.hydrate(
        tarOf(
          { name: 'su', mode: 0o4755 },
          { name: 'sg', mode: 0o2755 },
          { name: 'd/', type: '5', mode: 0o3777 },
        ),
      )
      expect(leftOut).toEqual(['su', 'sg', 'd'].map((path) => ({ path, kind: 'setuid' })))
      expect(await outputOf(sandbox, 'stat -c %a su sg d')).toBe('755\n755\n1777')
    })

    it('exactly one of two concurrent hydrates is in the workspace at the end', async () => {
      const under = await shared()
      const { sandbox } = under
      const tar = (label: string) =>
        tarOf(...Array.from({ length: 60 }, (_, index) => ({ name: `${label}${index}/f`, content: label })))
      await Promise.allSettled([sandbox.hydrate(tar('a')), sandbox.hydrate(tar('b'))])
      const names = (await outputOf(sandbox, 'ls -A')).split('\n')
      expect([names.length, new Set(names.map((name) => name[0])).size]).toEqual([60, 1])
      if (sandbox.capabilities.watching !== 'none') expect(await faultsOf(under)).toEqual([])
    })

    it('a hydrate during a shutdown is applied completely or not at all', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const files = (label: string) =>
        tarOf(...Array.from({ length: 600 }, (_, index) => ({ name: `${label}${index}`, content: label })))
      await sandbox.hydrate(files('a'))
      for (const [round, label] of ['b', 'c', 'd'].entries()) {
        const hydrating = background(sandbox.hydrate(files(label)))
        await eventually('it to begin', async () => (await starts(journal)) === round + 2)
        await sandbox.exec(`sleep 0.${round}`)
        await sandbox.lifecycle.shutdown()
        await hydrating.catch(() => undefined)
        await sandbox.lifecycle.start()
        const seen = await outputOf(sandbox, 'ls -A | cut -c1 | sort | uniq -c | tr -s " "')
        expect(seen.trim(), `round ${round}`).toMatch(/^600 [a-d]$/)
      }
      expect(operationsOf(await allEvents(journal), 'hydrate_workspace').map(typesOf)).toEqual(
        Array(4).fill(['operation.started', 'operation.finished']),
      )
    })
  })
}

async function starts(journal: Parameters<typeof allEvents>[0]): Promise<number> {
  return operationsOf(await allEvents(journal, { types: ['operation.*'] }), 'hydrate_workspace').length
}
