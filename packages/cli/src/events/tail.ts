import { once } from 'node:events'
import { connect } from '@vitrine/client'
import { type JournalItem, type TailOptions, VitrineError } from '@vitrine/protocol'
import { paintEvent } from '../paint.ts'
import { takeSignals } from '../signals.ts'
import type { TailFlags } from './command.ts'
import { daemonAddress, fetchSandboxes } from './daemon-address.ts'

/** Prints events until Ctrl-C; the client reconnects as often as needed. */
export async function tailEvents(flags: TailFlags): Promise<void> {
  const address = daemonAddress(flags)
  const journal = await selectedJournal(flags, address)
  const interrupted = new AbortController()
  takeSignals(['SIGINT'], () => interrupted.abort())
  await using client = connect(address)
  const options = tailOptions(flags, interrupted.signal)
  // Both read journals only, and start no sandbox.
  const items = journal === undefined ? client.events(options) : client.journal(journal).tail(options)
  for await (const item of items) await writeLine(lineOf(item, flags))
}

async function selectedJournal(
  { sandbox, all = false }: TailFlags,
  address: Parameters<typeof fetchSandboxes>[0],
): Promise<string | undefined> {
  if (all && sandbox !== undefined)
    throw new VitrineError('argument_invalid', '--sandbox and --all exclude each other: pass one of them.')
  const { sandboxes, default: defaultId } = await fetchSandboxes(address)
  if (all) return undefined
  const id = sandbox ?? defaultId
  if (id === undefined)
    throw new VitrineError(
      'not_found',
      'This daemon has no default sandbox. Choose one with --sandbox, or pass --all.',
    )
  if (id === defaultId || sandboxes.some((one) => one.id === id)) return id
  const known = sandboxes.map((one) => one.id).join(', ') || 'none'
  throw new VitrineError('not_found', `There is no sandbox ${id}. Known sandboxes: ${known}.`)
}

function tailOptions({ types, session, text, after }: TailFlags, signal: AbortSignal): TailOptions {
  return {
    signal,
    ...(types !== undefined && { types }),
    ...(session !== undefined && { session }),
    ...(text !== undefined && { text }),
    ...(after !== undefined && { after }),
  }
}

function lineOf(item: JournalItem, { json = false }: TailFlags): string {
  return json ? jsonLine(item) : paintEvent(item, process.stdout.columns || 120)
}

/** Waits for `drain`, so that a slow reader of stdout slows the stream instead of filling memory. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}

/** One line of JSON; control and invisible characters are written as `\u` escapes, which parse to the same value. */
function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\p{Cf}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
