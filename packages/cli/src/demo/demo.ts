import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Gate, type Journal, jsonlSink, openStore, sqliteStore } from '@vitrine/journal'
import { isVitrineError, newId } from '@vitrine/protocol'
import pc from 'picocolors'
import { paintEvent } from '../paint.ts'
import { summarize } from './summary.ts'
import { tamperWithCopy } from './tamper.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

export interface DemoOptions {
  readonly keep: boolean
  /** Between two steps, so that a person can follow. */
  readonly pauseMs: number
  readonly print: (line: string) => void
  readonly width: number
}

/** A first look: everything that happens in a folder is one ordered, durable record. */
export async function demo(options: DemoOptions): Promise<void> {
  const { keep, print } = options
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-demo-'))
  // Ctrl-C and a closed pipe end the process without the `finally`.
  const clear = () => rmSync(folder, { recursive: true, force: true })
  if (!keep) process.once('exit', clear)
  try {
    print(
      pc.bold('Real operations in a temporary folder; every line is an event that is already committed.\n'),
    )
    const path = join(folder, 'journal.db')
    const sandbox = newId('sandbox')
    await live(path, folder, sandbox, options)
    const { tampered, named, reason } = await tamperWithCopy(path, join(folder, 'tampered.db'), sandbox)
    print(
      `${pc.bold('Tampered copy')}   one byte of event ${tampered} was changed; verify names ${pc.red(`event ${named}`)}: ${reason}`,
    )
    if (keep) print(`\nKept in ${folder}`)
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true })
    process.off('exit', clear)
  }
}

async function live(
  path: string,
  folder: string,
  sandbox: string,
  { pauseMs, print, width }: DemoOptions,
): Promise<void> {
  const root = join(folder, 'workspace')
  const audit = join(folder, 'audit.jsonl')
  await mkdir(root)
  await using store = await openStore(sqliteStore({ path }))
  store.addSecret('DEMO_TOKEN', secret)
  await store.addSink('audit', jsonlSink({ path: audit }))
  const journal = await store.journal(sandbox, { source: 'engine', actor: 'demo', sandbox })
  const keepReadme: Gate = ({ data }) =>
    data.path === 'README.md' ? { answer: 'deny', reason: 'the README stays' } : 'allow'
  journal.gate('keep-the-readme', keepReadme, { ops: ['rm'] })
  const watching = new AbortController()
  const watched = watch(journal, watching.signal, print, width)
  await story(journal, openWorkplace(journal, root), root, () => sleep(pauseMs))
  await journal.flush()
  watching.abort()
  await watched

  for (const line of await summarize(journal)) print(line)
  const lines = (await readFile(audit, 'utf8')).trimEnd().split('\n').length
  print(
    `${pc.bold('Audit log')}       ${lines} lines of JSON, by a sink that goes on where it was after any outage`,
  )
  const verified = await journal.verify()
  if (!verified.ok) throw new Error(`the journal does not verify at ${verified.seq}: ${verified.reason}`)
  const holds = pc.green(`the chain of ${verified.events} events holds`)
  print(`${pc.bold('Verified')}        ${holds}, head ${verified.head.hash.slice(0, 16)}…`)
}

// A value in the form of a token, made here: nothing accepts it.
const secret = `demo-token-${'k7Qx'.repeat(6)}`

async function story(
  journal: Journal,
  workplace: Workplace,
  root: string,
  pause: () => Promise<void>,
): Promise<void> {
  await journal.append([{ type: 'sandbox.created', data: { provider: 'demo', root } }])
  await workplace.setUp()
  await pause()
  await workplace.write('src/greet.mjs', "console.log('Hello from a real process')\n")
  await pause()
  await workplace.exec(['node', 'src/greet.mjs'])
  await pause()
  await workplace.write('src/greet.mjs', "console.log('This one ends badly')\nprocess.exit(3)\n")
  await workplace.exec(['node', 'src/greet.mjs'])
  await pause()
  // The token leaves the process in two pieces and in base64, and reaches no event.
  await workplace.write('src/leak.mjs', leak)
  await workplace.exec(['node', 'src/leak.mjs'])
  await pause()
  await workplace.move('src/leak.mjs', 'src/quiet.mjs')
  await workplace.remove('src/quiet.mjs')
  await pause()
  await workplace.remove('README.md').catch((error: unknown) => {
    if (!isVitrineError(error) || error.code !== 'gate_refused') throw error
  })
  await workplace.list('.')
  await workplace.read('README.md')
  await journal.append([{ type: 'sandbox.stopped', data: { reason: 'the demo is over' } }])
}

const leak = `const token = ${JSON.stringify(secret)}
process.stdout.write('token=' + token.slice(0, 14))
setTimeout(() => process.stdout.write(token.slice(14) + ' base64=' + Buffer.from(token).toString('base64') + '\\n'), 50)
`

async function watch(
  journal: Journal,
  signal: AbortSignal,
  print: (line: string) => void,
  width: number,
): Promise<void> {
  for await (const item of journal.tail({ signal })) print(paintEvent(item, width))
}
