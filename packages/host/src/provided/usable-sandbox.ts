import type { ProvidedSandbox } from '@vitrine/protocol'
import type { ProviderCalls } from './provider-calls.ts'

/** The members that the host itself uses, with their types. */
const members: Readonly<Record<string, 'object' | 'function' | 'string'>> = {
  id: 'string',
  root: 'string',
  capabilities: 'object',
  journal: 'object',
  'journal.export': 'function',
  'journal.tailExport': 'function',
  files: 'object',
  processes: 'object',
  ports: 'object',
  lifecycle: 'object',
  sessions: 'object',
  as: 'function',
  exec: 'function',
  spawn: 'function',
  close: 'function',
}

/** Throws for a value that is no sandbox with the id of the call. */
export function assertUsable(calls: ProviderCalls, sandbox: unknown): asserts sandbox is ProvidedSandbox {
  for (const [path, type] of Object.entries(members)) {
    const got = kindAt(sandbox, path.split('.'))
    if (got !== type) throw calls.unusable('open', `a sandbox whose \`${path}\` is a ${type}`, got)
  }
  const { id } = sandbox as ProvidedSandbox
  if (id !== calls.sandbox)
    throw calls.unusable('open', `a sandbox with the id ${calls.sandbox}`, JSON.stringify(id))
}

function kindAt(value: unknown, path: readonly string[]): string {
  let at = value
  try {
    for (const name of path)
      at = at === undefined || at === null ? undefined : Reflect.get(Object(at), name, at)
  } catch (error) {
    return `the error ${error instanceof Error ? error.message : String(error)}`
  }
  return at === null ? 'null' : typeof at
}
