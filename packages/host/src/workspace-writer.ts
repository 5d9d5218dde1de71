import type { PrivateWriter } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { SandboxRecord } from '@vitrine/protocol/records'
import { appendPrivately } from '@vitrine/sandbox'
import type { LiveSandboxes } from './live-sandboxes.ts'
import type { Records } from './records.ts'

/** Writes the lines of sinks into workspaces, without operations and without file events. It starts no sandbox. */
export class WorkspaceWriter implements PrivateWriter {
  readonly #records: Records
  readonly #live: LiveSandboxes

  constructor(records: Records, live: LiveSandboxes) {
    this.#records = records
    this.#live = live
  }

  async append(
    { sandbox: id, path }: { readonly sandbox: string; readonly path: string },
    lines: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    // A workspace that is being prepared must stay empty until then.
    const starting = this.#live.started(id)
    if (!(await settledWithin(starting, Number.POSITIVE_INFINITY, { signal }))) signal.throwIfAborted()
    const sandbox = await starting
    const record = this.#records.get(id)
    if (record === undefined || record.state === 'destroyed') throw noWorkspace(id)
    const { directory } = record
    try {
      if (sandbox?.appendPrivately !== undefined)
        sandbox.appendPrivately(path, lines, directory?.path === sandbox.root ? directory : undefined)
      else if (sandbox === undefined && directory !== undefined)
        appendPrivately({ root: directory.path, directory, path }, lines)
      else throw noWorkspace(id)
    } catch (error) {
      throw isVitrineError(error) && error.code === 'disk_full' ? ownDiskFull(record, error) : error
    }
  }
}

/** A sandbox that has filled its own disk space must not hold up the events of others. */
function ownDiskFull({ local }: SandboxRecord, error: VitrineError): VitrineError {
  if (local.limits?.diskBytes === undefined) return error
  return new VitrineError('disk_limit', error.message, { cause: error })
}

function noWorkspace(id: string): VitrineError {
  return new VitrineError('not_found', `The sandbox ${id} has no workspace that can be written now.`)
}
