import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'
import { bytes, duration, milliseconds, signal, stream, textsByName, variables, whole } from './values.ts'

const mostCells = 1_000

export const terminalSize = () => strict({ cols: whole(1, mostCells), rows: whole(1, mostCells) })

/** The JSON part of the options to start a command. */
export const launchFields = () => ({
  shell: z.optional(z.union([z.string(), z.array(z.string())])),
  cwd: z.optional(z.string()),
  env: z.optional(textsByName()),
  secrets: z.optional(textsByName()),
  user: z.optional(z.string()),
  timeoutMs: z.optional(duration()),
})

export const execFields = () => ({ ...launchFields(), maxOutputBytes: z.optional(whole()) })

export const spawnFields = () => ({
  ...launchFields(),
  owner: z.optional(z.string()),
  restart: z.optional(z.enum(['never', 'on-failure', 'always'])),
})

/** Wait time and output limit of the terminal tool. */
const ptyAnswer = () => ({
  yieldTimeMs: z.optional(z.number('expected a number of milliseconds')),
  maxOutputTokens: z.optional(whole(1)),
})

/** The JSON part of a start of the terminal tool. */
export const ptyStartFields = () => {
  const { cwd: _cwd, ...launch } = launchFields()
  return {
    ...launch,
    cmd: z.union([z.string(), z.array(z.string())]),
    workdir: z.optional(z.string()),
    tty: z.optional(z.boolean()),
    ...ptyAnswer(),
  }
}

export const ptyWriteFields = () => ({
  sessionId: z.number(),
  chars: z.optional(z.string()),
  ...ptyAnswer(),
})

/** Options that JSON cannot represent. */
const inProcess = () => ({ env: z.optional(variables()) })

export const processOptions = lazily({
  exec: () =>
    strict({
      ...execFields(),
      ...inProcess(),
      stdin: z.optional(z.union([z.string(), bytes(), stream()])),
      signal: z.optional(signal()),
    }),
  spawn: () =>
    strict({
      ...spawnFields(),
      ...inProcess(),
      tty: z.optional(terminalSize()),
      signal: z.optional(signal()),
    }),
  logs: () =>
    strict({
      since: z.optional(z.string()),
      tail: z.optional(whole()),
      signal: z.optional(signal()),
    }),
  /** Options of the terminal tool for models. */
  ptyStart: () => strict({ ...ptyStartFields(), ...inProcess() }),
  ptyWrite: () => strict(ptyWriteFields()),
  stop: () => strict({ graceMs: z.optional(milliseconds(0)) }),
  view: () => strict({ signal: z.optional(signal()) }),
})
