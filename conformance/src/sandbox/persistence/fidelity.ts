import { describe, expect, it } from 'vitest'
import { bytesOf } from '../archives/unpack-calls.ts'
import { manifestOf } from '../archives/workspace.ts'
import { allEvents, operationsOf } from '../events.ts'
import { outputOf } from '../files/content.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'
import { faultsOf } from '../watching/changes.ts'
import { transfer } from './transfer.ts'

const odd = String.raw`"$(printf 'new\nline')" "$(printf 'not\377utf8')" ' leading' '-dash' 'tr ailing ' 'é€' 'back\slash' 'C:x' "$(printf '%0255d' 7)"`

const everything = [
  'mkdir -p src/deep/er empty locked d',
  'printf "#!/bin/sh\\necho ran\\n" > run.sh && chmod 755 run.sh',
  'head -c 100000 /dev/urandom > src/bytes && : > src/nothing && echo x > src/deep/er/f',
  'chmod 640 src/bytes && chmod 400 src/nothing && chmod 1777 d',
  'ln -s src/bytes relative && ln -s /etc/passwd absolute && ln -s ../../out upwards && ln -s missing dangling && ln -s . d/loop',
  'ln src/bytes hard && ln src/bytes src/deep/harder',
  `for n in ${odd}; do echo "$n" > "d/$n"; mkdir "empty/$n"; done`,
  'truncate -s 8M sparse && printf end | dd of=sparse bs=1 seek=4000000 conv=notrunc status=none',
  'chmod 500 locked',
  'find . -mindepth 1 -depth -exec touch -h -d @1577934245.123457 {} +',
  'touch -d @946684799.999999 run.sh; touch -d @0 src; touch -d @1577934245.000001 .',
].join('; ')

export function fidelityCases(make: MakeSandbox): void {
  describe('fidelity', () => {
    const shared = sharedSandbox(make)
    const other = sharedSandbox(make)

    it('a hydrated workspace equals the persisted one: bytes, modes, links, times, names', async () => {
      const { sandbox: from } = await shared()
      const under = await other()
      const { sandbox: to } = under
      expect(await from.exec(everything)).toMatchObject({ exitCode: 0, stderr: '' })
      expect(await transfer(from, to)).toMatchObject({ leftOut: [], leftOutCount: 0 })
      const manifest = await manifestOf(from)
      expect(manifest.length).toBeGreaterThan(35)
      expect(await manifestOf(to)).toEqual(manifest)
      expect(await outputOf(to, './run.sh; stat -c %h hard; ls -A empty | wc -l')).toBe('ran\n3\n10')
    })

    it('a hydrated workspace persists to the same bytes', async () => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await from.exec(everything)
      const first = await bytesOf(await from.persist())
      await to.hydrate(first)
      expect((await bytesOf(await to.persist())).equals(first)).toBe(true)
    })

    it("the sandbox's own tar can read a persisted workspace", async () => {
      const { sandbox: from } = await shared()
      const { sandbox: by } = await other()
      await from.exec(everything)
      await by.files.write('archive', await from.persist())
      expect(await by.exec('mkdir out && tar xpf archive -C out')).toMatchObject({ exitCode: 0, stderr: '' })
      expect(await manifestOf(by, 'out')).toEqual(await manifestOf(from))
    })

    it('sparse files stay sparse', async () => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await from.exec(
        'truncate -s 60M hole; printf x | dd of=hole bs=1 seek=40000000 conv=notrunc status=none',
      )
      const { length } = await bytesOf(await from.persist())
      expect(length).toBeLessThan(1_000_000)
      await transfer(from, to)
      const [size, blocks] = (await outputOf(to, 'stat -c "%s %b" hole')).split(' ').map(Number)
      expect(size).toBe(62_914_560)
      expect(blocks).toBeLessThan(2_000)
      expect(await outputOf(to, 'dd if=hole bs=1 skip=40000000 count=1 status=none')).toBe('x')
    })

    it('a link that leads outside is restored unchanged, and still not followed', async () => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await from.exec('ln -s /etc/passwd absolute; ln -s ../../../../etc/passwd upwards; ln -s /etc dir')
      await transfer(from, to)
      expect(await outputOf(to, 'readlink absolute upwards dir')).toBe(
        '/etc/passwd\n../../../../etc/passwd\n/etc',
      )
      for (const path of ['absolute', 'upwards', 'dir/passwd'])
        await expect(to.files.read(path)).rejects.toMatchObject({ code: 'path_outside' })
    })

    it('persist leaves FIFOs and sockets out, and names them', async () => {
      const { sandbox: from, journal } = await newSandbox(make)
      const { sandbox: to } = await newSandbox(make)
      const socket = `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("d/sock")'`
      await from.exec(`mkdir d; mkfifo d/pipe; ${socket}; echo x > d/z`)
      await transfer(from, to)
      expect(await outputOf(to, 'ls d')).toBe('z')
      const [operation] = operationsOf(await allEvents(journal), 'persist_workspace')
      expect(operation?.at(-1)?.data).toMatchObject({
        outcome: 'ok',
        leftOut: [
          { path: 'd/pipe', kind: 'fifo' },
          { path: 'd/sock', kind: 'socket' },
        ],
        leftOutCount: 2,
      })
    })

    it("a hydrated workspace belongs to the sandbox's user, whose commands can change all of it", async () => {
      const { sandbox: from } = await shared()
      const under = await other()
      const { sandbox: to } = under
      await from.exec(everything)
      await transfer(from, to)
      expect(await outputOf(to, 'find . -printf "%U %G\\n" | sort -u')).toBe(
        await outputOf(to, 'echo "$(id -u) $(id -g)"'),
      )
      const { exitCode, stderr } = await to.exec(
        'chmod -R u+rwX . && echo more >> src/bytes && touch new && rm -rf ./* && ls -A',
      )
      expect([exitCode, stderr]).toEqual([0, ''])
      if (to.capabilities.watching !== 'none') expect(await faultsOf(under)).toEqual([])
    })

    it('an empty workspace can be persisted and hydrated', async () => {
      const { sandbox: from } = await shared()
      const { sandbox: to } = await other()
      await to.exec('mkdir -p a/b; echo x > a/b/c; echo x > .hidden')
      expect(await transfer(from, to)).toMatchObject({ files: 0, directories: 0, links: 0, bytes: 0 })
      expect(await outputOf(to, 'ls -A')).toBe('')
    })
  })
}
