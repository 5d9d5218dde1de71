import { mkdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalSandbox } from '@vitrine/sandbox'
import { measurement } from '../measurement.ts'
import type { Peer } from '../peers/peer.ts'
import { missingRow, openPeer, peerNames } from '../peers/peers.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { median, percentile, type Row } from '../report.ts'
import { drain } from './drain.ts'
import { inBlocks } from './in-blocks.ts'

const bar = 3
const text = 'x'.repeat(1023).concat('\n')
/** Paths by their depth. */
const paths = { 'depth 1': 'file.txt', 'depth 6': 'a/b/c/d/e/file.txt' }
/** Gives the watcher time to report before the other run starts. */
const pauseMs = 10

interface Sizes {
  readonly blocks: number
  readonly calls: number
  readonly warmUp: number
  /** Fewer calls, since a peer may start a process for each. */
  readonly peer: { readonly blocks: number; readonly calls: number }
}

/** The overhead of reading and writing 1 KiB over direct file access. */
export const small = measurement<Sizes>({
  name: 'small',
  what: 'write and read of 1 KiB, at depth 1 and 6, watching on and off',
  against: 'fs.promises; TanStack local-process; OpenAI unix-local',
  bars: [`≤ ${bar} ×`],
  needs: ['peers'],
  sizes: {
    full: { blocks: 40, calls: 50, warmUp: 40, peer: { blocks: 4, calls: 15 } },
    tiny: { blocks: 2, calls: 3, warmUp: 1, peer: { blocks: 2, calls: 2 } },
  },
  run,
})

async function run(sizes: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = []
  await withSandbox({ isolation: 'none' }, signal, async (sandbox, folder) => {
    rows.push(...(await compareWithNode({ sandbox, folder, sizes, signal }, 'watching on', bar)))
    for (const name of peerNames) {
      const peer = await openPeer(name, join(folder, 'peers'))
      if ('missing' in peer) {
        rows.push(missingRow(`read and write of 1 KiB, beside ${name}`, peer.missing))
        continue
      }
      rows.push(...(await besidePeer({ sandbox, sizes, signal }, peer)))
      await peer.close()
    }
  })
  await withSandbox({ isolation: 'none', watch: false }, signal, async (sandbox, folder) => {
    rows.push(...(await compareWithNode({ sandbox, folder, sizes, signal }, 'watching off')))
  })
  return rows
}

interface MeasureContext {
  readonly sandbox: LocalSandbox
  readonly folder: string
  readonly sizes: Sizes
  readonly signal: AbortSignal
}

async function compareWithNode(
  { sandbox, folder, sizes: { blocks, calls, warmUp }, signal }: MeasureContext,
  watching: string,
  atMost?: number,
): Promise<Row[]> {
  const rows: Row[] = []
  const order = { blocks, calls, warmUp, pause: () => sleep(pauseMs), signal }
  for (const [depth, path] of Object.entries(paths)) {
    const file = join(folder, 'raw', path)
    mkdirSync(dirname(file), { recursive: true })
    const written = await inBlocks(
      { raw: () => writeFile(file, text), ours: () => sandbox.files.write(path, text, { parents: true }) },
      order,
    )
    const read = await inBlocks(
      { raw: () => readFile(file), ours: async () => drain(await sandbox.files.read(path)) },
      order,
    )
    const under = `1 KiB, ${depth}, SQLite journal, ${watching}, ${blocks * calls} times`
    rows.push(
      row(`write of ${under}`, written, 'fs.promises.writeFile (in place; ours is all or nothing)', atMost),
      row(`read of ${under}`, read, 'fs.promises.readFile', atMost),
    )
  }
  return rows
}

async function besidePeer(
  { sandbox, sizes, signal }: Omit<MeasureContext, 'folder'>,
  peer: Peer,
): Promise<Row[]> {
  const order = { ...sizes.peer, pause: () => sleep(pauseMs), signal }
  let count = 0
  const next = () => {
    count += 1
    return `${peer.name.replaceAll(/\W/g, '-')}-${count}.txt`
  }
  const created = await inBlocks(
    { peer: () => peer.createFile(next(), text), ours: () => sandbox.files.write(next(), text) },
    order,
  )
  await peer.createFile('read.txt', text)
  await sandbox.files.write('read.txt', text)
  const read = await inBlocks(
    { peer: () => peer.readFile('read.txt'), ours: async () => drain(await sandbox.files.read('read.txt')) },
    order,
  )
  const against = `${peer.name} (${peer.without})`
  return [
    row('write of 1 KiB, a new file, watching on', { raw: created.peer, ours: created.ours }, against),
    row('read of 1 KiB, watching on', { raw: read.peer, ours: read.ours }, against),
  ]
}

function row(
  what: string,
  took: { readonly raw: readonly number[]; readonly ours: readonly number[] },
  against: string,
  atMost?: number,
): Row {
  const [mine, other] = [median(took.ours), median(took.raw)]
  const ratio = mine / other
  return {
    what,
    measured: `p50 ${mine.toFixed(3)} ms (p99 ${percentile(took.ours, 0.99).toFixed(2)}), ${ratio.toFixed(2)} ×`,
    against: `${other.toFixed(3)} ms (p99 ${percentile(took.raw, 0.99).toFixed(2)}) ${against}`,
    bar: atMost === undefined ? '' : `≤ ${atMost} ×`,
    holds: atMost === undefined ? null : ratio <= atMost,
  }
}
