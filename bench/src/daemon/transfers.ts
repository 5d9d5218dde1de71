import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { measurement } from '../measurement.ts'
import { mebibytes, median, type Row } from '../report.ts'
import { inScratch } from '../scratch.ts'
import { startBare } from './bare.ts'
import type { RawRequest } from './connection.ts'
import { rootOf, startDaemon, token } from './daemon.ts'
import { type RunLoad, withLoad } from './load.ts'
import { growthDuring } from './memory.ts'
import { comparisonRow, sandboxAgentName, startSandboxAgent } from './sandbox-agent.ts'
import type { ServerProcess } from './server-process.ts'

const mebi = 1024 * 1024
const bar = { growthBytes: 32 * mebi, share: { up: 0.7, down: 0.9 } }
const warmUpBytes = 8 * mebi
const octets = 'application/octet-stream'

type Direction = 'up' | 'down'

interface File {
  readonly name: string
  readonly bytes: number
  readonly rounds: number
}

interface Sizes {
  readonly files: readonly File[]
}

interface TransferTarget {
  readonly server: ServerProcess
  /** The path of the file on disk. */
  readonly file: string
  readonly request: Record<Direction, RawRequest>
  /** Waits for background work, such as watching. */
  waitUntilIdle?(): Promise<unknown>
}

interface Figures {
  readonly perSecond: number[]
  readonly growthBytes: number[]
}

/** Uploads and downloads of files that are streamed, not buffered. */
export const transfers = measurement<Sizes>({
  name: 'transfers',
  what: 'a file of 64 MiB and one of 1 GiB up and down: speed, and memory of the daemon meanwhile',
  against: 'node:http with a pipeline to a file, createReadStream(file).pipe(response); sandbox-agent',
  bars: [`≥ ${bar.share.up} ×`, `≥ ${bar.share.down} ×`, `< ${mebibytes(bar.growthBytes)}`],
  needs: ['build', 'peers'],
  sizes: {
    full: {
      files: [
        { name: '64 MiB', bytes: 64 * mebi, rounds: 5 },
        { name: '1 GiB', bytes: 1024 * mebi, rounds: 5 },
      ],
    },
    tiny: { files: [{ name: '1 MiB', bytes: mebi, rounds: 2 }] },
  },
  run,
})

async function run({ files }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = []
  await withLoad(signal, async (runLoad) => {
    for (const size of files)
      for (const direction of ['up', 'down'] as const) rows.push(...(await measure(runLoad, size, direction)))
  })
  return rows
}

/** Measures one size and direction in new processes. */
function measure(runLoad: RunLoad, size: File, direction: Direction): Promise<Row[]> {
  return inScratch(async (folder) => {
    await using daemon = await startDaemon(folder)
    await using plain = await startBare(folder, { headers: { 'content-type': octets }, body: '' })
    const found = await startSandboxAgent(folder)
    await using peer = 'missing' in found ? undefined : found
    const targets = {
      ours: ours(daemon, folder),
      bare: bare(plain, folder),
      ...(peer && { peer: peerTarget(peer, folder) }),
    }
    const { figures, refused } = await inTurns(runLoad, targets, size, direction)
    return rowsOf(size, direction, figures, 'missing' in found ? found.missing : refused)
  })
}

function ours(server: ServerProcess, folder: string): TransferTarget {
  const path = '/v1/files/content?path=sent.bin'
  const headers = { authorization: `Bearer ${token}` }
  const flush = `http://127.0.0.1:${server.port}/v1/files/flush`
  return {
    server,
    file: join(rootOf(folder), 'sent.bin'),
    request: { up: { method: 'PUT', path, headers }, down: { method: 'GET', path, headers } },
    waitUntilIdle: () => fetch(flush, { method: 'POST', headers }),
  }
}

/** Downloads the same file as ours. */
function bare(server: ServerProcess, folder: string): TransferTarget {
  const file = join(rootOf(folder), 'sent.bin')
  const path = `/file?path=${encodeURIComponent(relative(folder, file))}`
  return { server, file, request: { up: { method: 'PUT', path }, down: { method: 'GET', path } } }
}

function peerTarget(server: ServerProcess, folder: string): TransferTarget {
  const file = join(folder, 'peer.bin')
  const path = `/v1/fs/file?path=${encodeURIComponent(file)}`
  return { server, file, request: { up: { method: 'PUT', path }, down: { method: 'GET', path } } }
}

async function inTurns(
  runLoad: RunLoad,
  targets: Readonly<Record<string, TransferTarget>>,
  size: File,
  direction: Direction,
) {
  const figures: Record<string, Figures> = {}
  let refused: string | undefined
  const left = new Map(Object.entries(targets))
  for (const target of left.values()) await transfer(runLoad, target, direction, warmUpBytes)
  for (let round = 0; round < size.rounds; round += 1) {
    for (const [name, target] of round % 2 === 0 ? [...left] : [...left].toReversed()) {
      const { growthBytes, result } = await transfer(runLoad, target, direction, size.bytes)
      if (result.status !== 200) {
        if (name !== 'peer') throw new Error(`${name}: expected 200, got ${result.status}.`)
        refused = `${result.status || 'connection cut'}: more than ${sandboxAgentName} takes`
        left.delete(name)
        continue
      }
      figures[name] ??= { perSecond: [], growthBytes: [] }
      figures[name].perSecond.push((size.bytes / result.ms) * 1_000)
      figures[name].growthBytes.push(growthBytes)
    }
  }
  return { figures, refused }
}

/** An upload creates a new file each time and removes it; a download reads a file that is in the page cache. */
async function transfer(runLoad: RunLoad, target: TransferTarget, direction: Direction, bytes: number) {
  const { server, file, request } = target
  const job = { port: server.port, request: request[direction], bytes }
  if (direction === 'down') createFile(file, bytes)
  await target.waitUntilIdle?.()
  if (direction === 'down') return growthDuring(server.pid, () => runLoad('download', job))
  const found = await growthDuring(server.pid, () => runLoad('upload', job))
  if (found.result.status === 200 && statSync(file).size !== bytes)
    throw new Error(`${file}: expected ${bytes} bytes, got ${statSync(file).size}.`)
  rmSync(file, { force: true })
  return found
}

function createFile(file: string, bytes: number): void {
  const part = Buffer.alloc(8 * mebi, 'vitrine ')
  if (statSync(file, { throwIfNoEntry: false })?.size === bytes) return
  writeFileSync(file, '')
  for (let left = bytes; left > 0; left -= part.length) writeFileSync(file, part, { flag: 'a' })
  truncateSync(file, bytes)
}

function rowsOf(
  { name }: File,
  direction: Direction,
  { ours: mine, bare: plain, peer }: Readonly<Record<string, Figures>>,
  why: string | undefined,
): Row[] {
  const [speed, plainSpeed] = [median(mine!.perSecond), median(plain!.perSecond)]
  const share = speed / plainSpeed
  const growth = Math.max(...mine!.growthBytes)
  const what = `${name} ${direction}`
  const how = direction === 'up' ? 'pipeline to a file, then rename' : 'createReadStream(file).pipe(response)'
  return [
    {
      what: `${what}: speed`,
      measured: `${mebibytes(speed)}/s, ${share.toFixed(2)} ×`,
      against: `${mebibytes(plainSpeed)}/s node:http, ${how} (no journal)`,
      bar: `≥ ${bar.share[direction]} ×`,
      holds: share >= bar.share[direction],
    },
    {
      what: `${name} ${direction}: memory of the daemon meanwhile`,
      measured: `+${mebibytes(growth)} (first +${mebibytes(mine!.growthBytes[0]!)})`,
      against: `+${mebibytes(Math.max(...plain!.growthBytes))} node:http`,
      bar: `< ${mebibytes(bar.growthBytes)}`,
      holds: growth < bar.growthBytes,
    },
    comparisonRow(
      `${name} ${direction}`,
      peer === undefined
        ? (why ?? '')
        : `${mebibytes(median(peer.perSecond))}/s, +${mebibytes(Math.max(...peer.growthBytes))} ${sandboxAgentName}`,
    ),
  ]
}
