import { isVitrineError, type SetupCommand, type SetupStep } from '@vitrine/protocol'
import { checkEnvironment } from '../machine/environment.ts'
import { type FieldPath, invalid } from './invalid.ts'

/** A validated setup command. */
export interface PlannedCommand {
  readonly field: FieldPath
  readonly name: string
  readonly run: string | readonly string[]
  readonly options: Omit<SetupCommand, 'run' | 'name'>
}

const maxName = 200

/** Returns groups of commands. Groups run one after the other, the commands of a group in parallel. */
export function readSetup(
  field: FieldPath,
  steps: readonly SetupStep[],
): readonly (readonly PlannedCommand[])[] {
  return steps.map((step, at) => readGroup(`${field}[${at}]`, step))
}

/** Flattens nested groups into one. */
function readGroup(field: FieldPath, step: SetupStep): readonly PlannedCommand[] {
  if (typeof step === 'string' || isArgv(step)) return [readCommand(field, { run: step })]
  if (!('parallel' in step)) return [readCommand(field, step)]
  return step.parallel.flatMap((one, at) => readGroup(`${field}.parallel[${at}]`, one))
}

function readCommand(
  field: FieldPath,
  { run, name = nameOf(run), ...options }: SetupCommand,
): PlannedCommand {
  if (options.env !== undefined) readEnvironment(`${field}.env`, options.env)
  return { field, name: cut(name), run, options }
}

/** Checks that names and values are valid in a process environment. */
export function readEnvironment(
  field: FieldPath,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  try {
    checkEnvironment(env)
  } catch (error) {
    throw isVitrineError(error) ? invalid(field, error.message.replace(/^env[:.]\s*/, '')) : error
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
