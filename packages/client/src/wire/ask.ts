import { fromProblem, isVitrineError, VitrineError } from '@vitrine/protocol'
import { pathOf, type Query, queryOf } from './address.ts'
import { CallOff } from './call-off.ts'
import { connectionFailed, failureOf, isLateProblem } from './failures.ts'
import { NamedCall } from './named-call.ts'
import { type Outgoing, sendable } from './outgoing.ts'
import type { Wire } from './wire.ts'

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below where the wire is. */
  readonly path: readonly string[]
  readonly query?: Query
  readonly json?: unknown
  readonly bytes?: Outgoing
  readonly headers?: Readonly<Record<string, string>>
  /** The caller's: when it aborts, the server is told, and what it then answers is the answer. */
  readonly signal?: AbortSignal | undefined
  /** When it aborts, nobody wants the answer any more: the connection is dropped. */
  readonly until?: AbortSignal | undefined
  /** How long the answer may take at most; `none` is for work. By default a `GET` is a question, and the rest is work. */
  readonly limitMs?: number | 'none'
}

/** An answer that has begun, and how to be done with it. */
export interface Answer {
  readonly response: Response
  readonly callOff: CallOff
  readonly where: string
}

/** Asks, and throws whatever is no success. */
export async function ask(wire: Wire, asked: Asked): Promise<Answer> {
  const { method = 'GET', query = {}, bytes, signal, until } = asked
  const path = pathOf([...wire.parts, ...asked.path])
  const where = `${method} ${path}`
  const address = `${wire.url}${path}${queryOf(query)}`
  const named = signal && new NamedCall(wire, signal)
  const callOff = new CallOff({
    where,
    caller: signal ?? until,
    closing: wire.closing,
    limitMs: limitOf(wire, asked),
    named,
  })
  try {
    if (callOff.signal.aborted) throw callOff.error()
    const response = await wire.fetch(address, {
      method,
      ...(await contentOf(wire, asked, named)),
      signal: callOff.signal,
    })
    if (response.ok) return { response, callOff, where }
    throw await failureOf(response, where)
  } catch (error) {
    bytes?.leave()
    callOff.release()
    if (callOff.signal.aborted) throw callOff.error(error)
    throw bytes?.failure() ?? (isVitrineError(error) ? error : callOff.error(error))
  }
}

function limitOf(wire: Wire, { method = 'GET', limitMs }: Asked): number | undefined {
  if (limitMs === 'none') return undefined
  return limitMs ?? (method === 'GET' ? wire.timeoutMs : undefined)
}

async function contentOf(
  wire: Wire,
  { json, bytes, headers }: Asked,
  named: NamedCall | undefined,
): Promise<RequestInit> {
  // Whatever takes minutes: its headers come before anybody gives up on them, and its JSON in the end.
  const patient = { accept: 'application/json', 'vitrine-keepalive': 'true' }
  const all = { ...patient, ...wire.headers(), ...headers, ...named?.headers() }
  if (bytes !== undefined) {
    const body = named?.isCalledOff ? new Uint8Array() : bytes.body
    return { headers: { ...all, 'content-type': 'application/octet-stream' }, ...(await sendable(body)) }
  }
  if (json === undefined) return { headers: all }
  return { headers: { ...all, 'content-type': 'application/json' }, body: written(json) }
}

function written(json: unknown): string {
  try {
    return JSON.stringify(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new VitrineError('argument_invalid', `It cannot be written as JSON: ${reason}`, { cause: error })
  }
}

/** Asks for JSON. The server answers with what the contract says; nothing here checks it a second time. */
export async function askJson<T>(wire: Wire, asked: Asked): Promise<T> {
  const answer = await ask(wire, asked)
  return answered(await textOf(answer, asked), answer) as T
}

/** Read to its end, a connection can be used again. */
async function textOf({ response, callOff }: Answer, { bytes }: Asked): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw callOff.error(error)
  } finally {
    callOff.release()
    bytes?.leave()
  }
}

function answered(text: string, { where, response }: Answer): unknown {
  const answer = parsed(text, where, response.status)
  if (isLateProblem(answer)) throw fromProblem(answer)
  return answer
}

function parsed(text: string, where: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw connectionFailed(`${where}: expected JSON, got something else with ${status}.`, error, status)
  }
}

/** Asks for something to be done that has no answer. */
export async function askDone(wire: Wire, asked: Asked): Promise<void> {
  const answer = await ask(wire, asked)
  const text = await textOf(answer, asked)
  // What took long has begun as a success; what came of it is known now.
  if (text.trim() !== '') answered(text, answer)
}
