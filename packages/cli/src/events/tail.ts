import { once } from 'node:events'
import { connect } from '@vitrine/client'
import { type JournalItem, type TailOptions, VitrineError } from '@vitrine/protocol'
import { paintEvent } from '../paint.ts'
import { takeSignals } from '../signals.ts'
import type { TailFlags } from './command.ts'
import { daemonAddress, sandboxesOf } from './daemon-address.ts'
import { jsonLine } from './json-line.ts'

/** Writes events as they come, over any number of connections, until Ctrl-C. */
export async function tailEvents(flags: TailFlags): Promise<void> {
  const address = daemonAddress(flags)
  const wanted = await wantedJournal(flags, address)
  const over = new AbortController()
  takeSignals(['SIGINT'], () => over.abort())
  await using client = connect(address)
  // The journals of the host under one cursor: nobody is woken up to be looked at.
  const options = tailOptions(flags, over.signal)
  // A journal is read without waking its sandbox up.
  const items = wanted === undefined ? client.events(options) : client.journal(wanted).tail(options)
  for await (const item of items) await writeLine(lineOf(item, flags))
}

async function wantedJournal(
  { sandbox, all = false }: TailFlags,
  address: Parameters<typeof sandboxesOf>[0],
): Promise<string | undefined> {
  if (all && sandbox !== undefined)
    throw new VitrineError('argument_invalid', 'Choose between --sandbox and --all.')
  const { sandboxes, default: usual } = await sandboxesOf(address)
  if (all) return undefined
  const id = sandbox ?? usual
  if (id === undefined) throw new VitrineError('not_found', 'This daemon has no default sandbox.')
  if (id === usual || sandboxes.some((one) => one.id === id)) return id
  const there = sandboxes.map((one) => one.id).join(', ') || 'none'
  throw new VitrineError('not_found', `There is no sandbox ${id}; there are: ${there}.`)
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

/** Whoever reads slowly slows the stream, and fills no memory. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}
