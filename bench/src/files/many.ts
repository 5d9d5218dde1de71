import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { measurement } from '../measurement.ts'
import { missingRow, openPeer, peerNames } from '../peers/peers.ts'
import { alternate } from '../processes/alternate.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { median, type Row } from '../report.ts'

interface Sizes {
  readonly files: number
  readonly rounds: number
}

/** Lists and searches many files. */
export const many = measurement<Sizes>({
  name: 'many',
  what: 'list and search of 10,000 files',
  against: 'readdir and lstat; grep; find; TanStack local-process; OpenAI unix-local',
  needs: ['peers'],
  sizes: { full: { files: 10_000, rounds: 15 }, tiny: { files: 200, rounds: 1 } },
  run,
})

function run({ files, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const order = { rounds, warmUp: 3, signal }
  return withSandbox({ isolation: 'none' }, signal, async (sandbox, folder) => {
    fill(join(sandbox.root, 'many'), files)
    await sandbox.files.flush()
    const here = join(sandbox.root, 'many')
    const ours = () => sandbox.files.list('many')
    const rows = [
      row(
        `list of ${files.toLocaleString('en')}`,
        await alternate({ other: () => listed(here), ours }, order),
        'readdir and lstat of each, all at once',
      ),
    ]
    for (const name of peerNames) {
      const peer = await openPeer(name, join(folder, 'peers'))
      if ('missing' in peer) {
        rows.push(missingRow(`list beside ${name}`, peer.missing))
        continue
      }
      fill(join(peer.root, 'many'), files)
      const took = await alternate({ other: () => peer.list('many'), ours }, order)
      rows.push(row('the same', took, `${peer.name} (names and types alone, ${peer.without})`))
      await peer.close()
    }
    const grep = () => promisify(execFile)('grep', ['-rnF', 'needle', here])
    rows.push(
      row(
        `search of a text in ${files.toLocaleString('en')} files of 1 KiB, ${files / 100} hits`,
        await alternate(
          { other: grep, ours: () => sandbox.files.search('many', { content: 'needle' }) },
          order,
        ),
        'grep -rnF as a process',
      ),
      row(
        `search by name, ${files / 100} hits`,
        await alternate(
          {
            other: () => promisify(execFile)('find', [here, '-name', '*00.txt']),
            ours: () => sandbox.files.search('many', { name: '*00.txt' }),
          },
          order,
        ),
        'find -name as a process',
      ),
    )
    return rows
  })
}

function fill(folder: string, files: number): void {
  mkdirSync(folder, { recursive: true })
  const hay = 'hay '.repeat(255)
  for (let index = 0; index < files; index += 1)
    writeFileSync(join(folder, `${index}.txt`), index % 100 === 0 ? `${hay}needle\n` : `${hay}straw\n`)
}

async function listed(folder: string): Promise<unknown> {
  const names = await readdir(folder)
  return Promise.all(names.map((name) => lstat(join(folder, name))))
}

function row(
  what: string,
  took: { readonly other: number[]; readonly ours: number[] },
  against: string,
): Row {
  const [mine, other] = [median(took.ours), median(took.other)]
  return {
    what,
    measured: `${mine.toFixed(1)} ms, ${(mine / other).toFixed(2)} ×`,
    against: `${other.toFixed(1)} ms ${against}`,
    bar: '',
    holds: null,
  }
}
