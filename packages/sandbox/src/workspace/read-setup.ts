import { isVitrineError, type SetupCommand, type SetupStep } from '@vitrine/protocol'
import { checkEnvironment } from '../machine/environment.ts'
import { invalid, type Where } from './invalid.ts'

/** One command of the set-up. */
export interface PlannedCommand {
  readonly where: Where
  readonly name: string
  readonly run: string | readonly string[]
  readonly options: Omit<SetupCommand, 'run' | 'name'>
}

const maxName = 200

/** Commands in the order they run; those of one group at once. */
export function readSetup(where: Where, steps: readonly SetupStep[]): readonly (readonly PlannedCommand[])[] {
  return steps.map((step, at) => readGroup(`${where}[${at}]`, step))
}

/** A group inside of a group is more of the same group. */
function readGroup(where: Where, step: SetupStep): readonly PlannedCommand[] {
  if (typeof step === 'string' || isArgv(step)) return [readCommand(where, { run: step })]
  if (!('parallel' in step)) return [readCommand(where, step)]
  return step.parallel.flatMap((one, at) => readGroup(`${where}.parallel[${at}]`, one))
}

function readCommand(where: Where, { run, name = nameOf(run), ...options }: SetupCommand): PlannedCommand {
  if (options.env !== undefined) readEnvironment(`${where}.env`, options.env)
  return { where, name: cut(name), run, options }
}

/** Variables whose names and values a process can have. */
export function readEnvironment(
  where: Where,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  try {
    checkEnvironment(env)
  } catch (error) {
    throw isVitrineError(error) ? invalid(where, error.message.replace(/^env[:.]\s*/, '')) : error
  }
  return env
}

function isArgv(step: SetupStep): step is readonly string[] {
  return Array.isArray(step)
}

function nameOf(run: string | readonly string[]): string {
  return typeof run === 'string' ? run : run.filter((part) => part !== '').join(' ')
}

function cut(name: string): string {
  return name.length <= maxName ? name : `${name.slice(0, maxName).toWellFormed()}…`
}
