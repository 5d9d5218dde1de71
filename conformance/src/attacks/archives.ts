import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { badTars } from '../sandbox/archives/bad-tars.ts'
import { badZips } from '../sandbox/archives/bad-zips.ts'
import { type TarMember, tarHeader, tarOf } from '../sandbox/archives/tar-bytes.ts'
import { additiveCalls, extractZip, unpackCalls } from '../sandbox/archives/unpack-calls.ts'
import { type ZipMember, zipOf } from '../sandbox/archives/zip-bytes.ts'
import { outputOf } from '../sandbox/files/content.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import { attempt } from '../waiting/attempt.ts'
import { type Canary, plantCanary, type RacedCall, race } from './canary.ts'
import type { Attack } from './kit.ts'

const racedUploads = 15
const tooLarge = { code: 'archive_too_large' }
const file = (name: string): TarMember & ZipMember => ({ name, content: 'escaped' })
const link = (name: string, target: string): TarMember => ({ name, type: '2', target })
const hard = (name: string, target: string): TarMember => ({ name, type: '1', target })

/** Members that would write into the canary if they were unpacked as they are. */
function slips({ path, relative }: Canary): readonly (readonly TarMember[])[] {
  return [
    [file(relative.slice(0, 90)), { ...file('f'), pax: { path: `${relative}/new` } }],
    [{ ...file('f'), pax: { path: `${path}/new` } }],
    [{ ...link('l', ''), pax: { linkpath: path } }, file('l/new')],
    [{ ...link('l', ''), pax: { linkpath: relative } }, file('l/new')],
    [{ ...hard('h', ''), pax: { linkpath: `${path}/f` } }, file('h')],
    [{ ...hard('h', ''), pax: { linkpath: `${relative}/f` } }, file('h')],
    [link('a', '.'), { ...link('a/l', ''), pax: { linkpath: path } }, file('a/l/new')],
  ]
}

async function list(sandbox: TestedSandbox): Promise<string> {
  return outputOf(sandbox, 'find . -mindepth 1 | sort')
}

/** The aim: to write outside the workspace, or to exhaust the host, with an archive. */
export const archiveAttacks: readonly Attack[] = [
  {
    promise: 'a tar that leads out of the workspace is refused as a whole by every call',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec('mkdir here; echo kept > here/kept')
      const before = await list(sandbox)
      for (const { name, send } of unpackCalls) {
        const rules = badTars.filter(({ hydrated }) => name !== 'hydrate' || !hydrated)
        for (const members of [...slips(canary), ...rules.map((rule) => rule.members)])
          await expect(
            attempt(() => send(sandbox, tarOf(file('first'), ...members))),
            `${name} of ${JSON.stringify(members)}`,
          ).rejects.toMatchObject({ code: 'archive_refused' })
        expect(await list(sandbox), name).toBe(before)
      }
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'a zip that leads out of the workspace is refused as a whole',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec('mkdir here; echo kept > here/kept')
      const before = await list(sandbox)
      const own: readonly (readonly ZipMember[])[] = [
        [file(`${canary.relative}/new`)],
        [file(`${canary.path}/new`)],
        [{ name: 'l', content: canary.path, mode: 0o120777 }, file('l/new')],
      ]
      for (const entries of [...own, ...badZips.map(([, members]) => members)])
        await expect(
          attempt(() => extractZip.send(sandbox, zipOf(file('first'), ...entries))),
          JSON.stringify(entries),
        ).rejects.toMatchObject({ code: 'archive_refused' })
      expect(await list(sandbox)).toBe(before)
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'an archive is not unpacked through a link that a command made before',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const canary = await plantCanary(sandbox)
      await sandbox.exec(
        `mkdir here; ln -s ${canary.path} here/l; ln -s ${canary.path} door; ln -s ${canary.path}/f here/f`,
      )
      const archive = tarOf(file('l/new'), file('f'))
      for (const { send } of additiveCalls) await attempt(() => send(sandbox, archive)).catch(() => undefined)
      await attempt(() => sandbox.files.upload('door', tarOf(file('new')))).catch(() => undefined)
      await attempt(() => sandbox.files.extract('door/x.tar', tarOf(file('new')))).catch(() => undefined)
      await canary.expectUnchanged()
    },
  },
  {
    promise: 'an archive is not unpacked through a link that is swapped in during the call',
    async run(target) {
      const { sandbox } = await target.sandbox({ watch: false })
      const canary = await plantCanary(sandbox)
      await sandbox.exec('mkdir -p here/d')
      const members = (round: number) => Array.from({ length: 10 }, (_, at) => file(`d/${round}-${at}`))
      const calls: readonly RacedCall[] = [
        (round) => sandbox.files.upload('here', tarOf(...members(round), file(`d/deep/${round}`))),
        (round) => sandbox.files.upload('here/d', tarOf(file(`${round}`))),
        (round) => sandbox.files.extract('here/d/given.tar', tarOf(file(`${round}`))),
      ]
      await race(sandbox, { folder: 'here/d', canary, calls, each: racedUploads })
    },
  },
  {
    promise: 'an archive brings no setuid file and no device into the workspace',
    async run(target) {
      const { sandbox } = await target.sandbox()
      for (const { name, send } of unpackCalls) {
        await send(sandbox, tarOf({ ...file('tool'), mode: 0o6755 }, { name: 'd/', type: '5', mode: 0o2755 }))
        expect(await outputOf(sandbox, 'find . -perm /6000'), name).toBe('')
      }
      await attempt(() =>
        sandbox.hydrate(tarOf({ name: 'disk', type: '4' }, { name: 'mem', type: '3' })),
      ).catch(() => undefined)
      expect(await outputOf(sandbox, 'find . -type b -o -type c')).toBe('')
    },
  },
  {
    promise: 'an archive that expands beyond a limit is refused as a whole',
    async run(target) {
      const archives = { expandedBytes: 100_000, members: 50, inputBytes: 1_000_000, ratio: 10 }
      const { sandbox } = await target.sandbox({ limits: { archives } })
      await sandbox.exec('mkdir here; echo kept > here/kept')
      const before = await list(sandbox)
      const bombs = [
        tarOf(...Array.from({ length: 60 }, (_, index) => ({ name: `${index}` }))),
        tarOf({ name: 'large', content: Buffer.alloc(200_000, 'x') }),
        tarOf({ name: 'largest', content: Buffer.alloc(1_100_000, 'x') }),
      ]
      const zeros = gzipSync(
        Buffer.concat([tarHeader({ name: 'zeros' }, 8_000_000), Buffer.alloc(8_001_024)]),
      )
      // `extract` chooses by the name, and its archive is called `given.tar`.
      for (const { name, send } of unpackCalls)
        for (const bomb of name === 'extract' ? bombs : [...bombs, zeros])
          await expect(
            attempt(() => send(sandbox, bomb)),
            name,
          ).rejects.toMatchObject(tooLarge)
      const zip = zipOf({ name: 'zeros', content: '\0'.repeat(1_000_000), deflate: true })
      await expect(attempt(() => extractZip.send(sandbox, zip))).rejects.toMatchObject(tooLarge)
      expect(await list(sandbox)).toBe(before)
    },
  },
  {
    promise: 'a sparse member counts with its apparent size',
    async run(target) {
      const { sandbox } = await target.sandbox({ limits: { archives: { expandedBytes: 100_000 } } })
      const map = Buffer.alloc(512)
      map.write('0\n')
      const pax = {
        'GNU.sparse.major': '1',
        'GNU.sparse.minor': '0',
        'GNU.sparse.name': 'hollow',
        'GNU.sparse.realsize': '50000000',
      }
      for (const { name, send } of unpackCalls)
        await expect(
          attempt(() => send(sandbox, tarOf({ name: 'hollow', pax, content: map }))),
          name,
        ).rejects.toMatchObject(tooLarge)
      expect(await outputOf(sandbox, 'find . -name hollow')).toBe('')
    },
  },
  {
    promise: 'a restored root without permissions does not make the sandbox unusable',
    async run(target) {
      const { sandbox } = await target.sandbox()
      for (const mode of [0o000, 0o200, 0o400]) {
        await sandbox.hydrate(tarOf({ name: './', type: '5', mode }, { name: 'f', content: 'restored' }))
        expect(await outputOf(sandbox, 'cat f && echo new > g && cat g && ls'), `mode ${mode}`).toBe(
          'restorednew\nf\ng',
        )
        await sandbox.files.write('h', 'written')
        await sandbox.lifecycle.shutdown()
        await sandbox.lifecycle.start()
        expect(await outputOf(sandbox, 'cat h')).toBe('written')
      }
    },
  },
]
