import { measurement } from '../measurement.ts'
import { sequence } from '../processes/output.ts'
import { withSandbox } from '../processes/sandbox.ts'
import { median, type Row } from '../report.ts'
import { rawTerminal } from './raw-terminal.ts'

const budget = 16 * 1024 * 1024
/** Waits for a key, so that the flood starts after the viewer is connected. */
const commandFor = (lines: number) => `stty -echo; printf ready; read key; exec seq ${lines}`
const greeting = 'ready'

interface Sizes {
  readonly lines: number
  readonly rounds: number
}

/** A program that floods its terminal, and a viewer that must receive every byte. */
export const flood = measurement<Sizes>({
  name: 'flood',
  what: 'seq 2000000 in a terminal to a viewer, and what the journal keeps of it',
  against: 'a raw terminal',
  bars: ['nothing lost', `≤ ${budget} bytes, none unaccounted for`],
  sizes: { full: { lines: 2_000_000, rounds: 3 }, tiny: { lines: 20_000, rounds: 1 } },
  run,
})

async function run({ lines, rounds }: Sizes, signal: AbortSignal): Promise<Row[]> {
  const expected = Buffer.concat([Buffer.from(greeting), sequence(lines, '\r\n')])
  const command = commandFor(lines)
  const ours: number[] = []
  const bare: number[] = []
  let recordedBytes = 0
  let skipped = 0
  let exact = true
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await rawFlood(command))
    await withSandbox({ isolation: 'none' }, signal, async (sandbox) => {
      const process = await sandbox.spawn(command, { tty: { cols: 80, rows: 24 } })
      const chunks: Uint8Array[] = []
      let began = 0
      for await (const { data } of process.view()) {
        if (began === 0) {
          began = performance.now()
          void process.input('\n')
        }
        chunks.push(data)
      }
      ours.push(performance.now() - began)
      exact &&= Buffer.concat(chunks).equals(expected)
      const logs = await sandbox.processes.logs(process.id)
      recordedBytes = logs.reduce((sum, { data }) => sum + data.length, 0)
      skipped = logs.reduce((sum, { skipped: left = 0 }) => sum + left, 0)
    })
  }
  const megabytes = (ms: number) => `${(expected.length / 1_000 / ms).toFixed(0)} MB/s`
  const withinBudget = recordedBytes <= budget && recordedBytes + skipped === expected.length
  return [
    {
      what: `seq ${lines} in a terminal, ${expected.length} bytes, to a viewer`,
      measured: `${exact ? 'nothing lost' : 'NOT the same bytes'}; ${megabytes(median(ours))}`,
      against: `${megabytes(median(bare))} raw terminal (no journal)`,
      bar: 'nothing lost',
      holds: exact,
    },
    {
      what: 'what the journal keeps of it',
      measured: `${recordedBytes} bytes, ${skipped} left out`,
      against: `${expected.length} bytes written`,
      bar: `≤ ${budget} bytes, none unaccounted for`,
      holds: withinBudget,
    },
  ]
}

async function rawFlood(command: string): Promise<number> {
  const { screen } = rawTerminal(command)
  let began = 0
  screen.on('data', () => {
    if (began !== 0) return
    began = performance.now()
    screen.write('\n')
  })
  // Not `once`: it rejects on the error that marks the terminal's end.
  await new Promise((settle) => screen.once('close', settle))
  return performance.now() - began
}
