import { isVitrineError } from '@vitrine/protocol'
import { checkEnvironment } from '../machine/environment.ts'
import { fieldsOf, invalid, listOf, recordOf, textOf, textsOf, type Where, wholeNumber } from './fields.ts'

/** One command of the set-up. */
export interface PlannedCommand {
  readonly where: Where
  readonly name: string
  readonly run: string | readonly string[]
  readonly options: {
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string>>
    readonly user?: string
    readonly timeoutMs?: number
  }
}

const maxName = 200
const longestTimeout = 0x7fff_ffff

/** Commands in the order they run; those of one group at once. */
export function readSetup(where: Where, value: unknown): readonly (readonly PlannedCommand[])[] {
  return listOf(where, value).map((step, at) => readGroup(`${where}[${at}]`, step))
}

/** A group inside of a group is more of the same group. */
function readGroup(where: Where, step: unknown): readonly PlannedCommand[] {
  if (typeof step !== 'object' || step === null || !('parallel' in step)) return [readCommand(where, step)]
  const { parallel } = fieldsOf(where, step, ['parallel'])
  const inside = `${where}.parallel`
  return listOf(inside, parallel).flatMap((one, at) => readGroup(`${inside}[${at}]`, one))
}

function readCommand(where: Where, step: unknown): PlannedCommand {
  if (typeof step === 'string' || Array.isArray(step)) {
    const run = readRun(where, step)
    return { where, name: nameOf(run), run, options: {} }
  }
  const fields = fieldsOf(where, step, ['run', 'name', 'cwd', 'env', 'user', 'timeoutMs'])
  const run = readRun(`${where}.run`, fields.run)
  const name = fields.name === undefined ? nameOf(run) : cut(textOf(`${where}.name`, fields.name))
  const timeout = `${where}.timeoutMs`
  return {
    where,
    name,
    run,
    options: {
      ...(fields.cwd !== undefined && { cwd: textOf(`${where}.cwd`, fields.cwd) }),
      ...(fields.env !== undefined && { env: readEnvironment(`${where}.env`, fields.env) }),
      ...(fields.user !== undefined && { user: textOf(`${where}.user`, fields.user) }),
      ...(fields.timeoutMs !== undefined && {
        timeoutMs: wholeNumber(timeout, fields.timeoutMs, 1, longestTimeout),
      }),
    },
  }
}

function readRun(where: Where, run: unknown): string | readonly string[] {
  if (!Array.isArray(run)) return textOf(where, run)
  if (run.length === 0) throw invalid(where, 'expected a command, got an empty list.')
  const [program, ...rest] = run
  textOf(`${where}[0]`, program)
  // Only the program must have a name: arguments may be empty.
  for (const [at, part] of rest.entries()) if (part !== '') textOf(`${where}[${at + 1}]`, part)
  return run.map(String)
}

export function readEnvironment(where: Where, value: unknown): Readonly<Record<string, string>> {
  const env: Record<string, string> = {}
  for (const [name, text] of Object.entries(recordOf(where, value))) {
    if (typeof text !== 'string') throw invalid(`${where}.${name}`, `expected a text, got ${typeof text}.`)
    env[name] = text
  }
  try {
    checkEnvironment(env)
  } catch (error) {
    throw isVitrineError(error) ? invalid(where, error.message.replace(/^env[:.]\s*/, '')) : error
  }
  return env
}

function nameOf(run: string | readonly string[]): string {
  return cut(
    typeof run === 'string'
      ? run
      : textsOf(
          'run',
          run.filter((part) => part !== ''),
        ).join(' '),
  )
}

function cut(name: string): string {
  return name.length <= maxName ? name : `${name.slice(0, maxName).toWellFormed()}…`
}
