import { memoryStore, openStore } from '@vitrine/journal'
import type { JournalEvent, PtyTool } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import type { LocalSandbox } from '../../src/index.ts'
import type { PtyProcess } from '../../src/terminals/pty-session.ts'
import { createPtyTool, type PtyHost } from '../../src/terminals/pty-tool.ts'
import { openSandbox } from '../fixtures/sandbox.ts'

export interface PtyScene {
  readonly sandbox: LocalSandbox
  readonly pty: PtyTool
  /** The operations in the order of their start: name and the data of their end. */
  operations(): Promise<readonly { op: unknown; parent: unknown; end: JournalEvent['data'] | undefined }[]>
}

/** The tool on plain processes: it works the same on every machine. */
export async function ptyScene(options: Parameters<typeof openSandbox>[1] = {}): Promise<PtyScene> {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  const sandbox = await openSandbox({ isolation: 'none' }, { store, ...options })
  const journal = await store.journal(sandbox.id, { source: 'engine', sandbox: sandbox.id })
  const host: PtyHost = { journal, spawn: (...asked) => spawn(sandbox, ...asked) }
  return {
    sandbox,
    pty: createPtyTool(host),
    async operations() {
      const { events } = await journal.read({ types: ['operation.*'], limit: 10_000 })
      const seen = events.filter((item) => item.type !== 'journal.gap')
      const ends = new Map(
        seen.flatMap((event) =>
          event.type === 'operation.finished' ? [[event.operation, event.data] as const] : [],
        ),
      )
      return seen
        .filter(({ type }) => type === 'operation.started')
        .map(({ operation, data }) => ({ op: data.op, parent: data.parent, end: ends.get(operation) }))
    },
  }
}

/** The host of the tool as a public sandbox. Its view has recent output only, which is enough here. */
async function spawn(
  sandbox: LocalSandbox,
  ...[command, options, onOutput]: Parameters<PtyHost['spawn']>
): Promise<PtyProcess> {
  const process = await sandbox.spawn(command, options)
  const watching = async () => {
    for await (const { stream, data } of process.view()) onOutput(stream, Buffer.from(data))
  }
  const exit = Promise.all([process.exit, watching()]).then(([ended]) => ended)
  exit.catch(() => undefined)
  return {
    id: process.id,
    exit,
    input: (data) => process.input(data),
    end: () => process.end(),
    kill: () => process.kill(),
  }
}
