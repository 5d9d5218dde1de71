import { readFileSync } from 'node:fs'
import type { ProgramAgent } from '@vitrine/agents'
import { VitrineError } from '@vitrine/protocol'

/** Agents of one's own from a file: `{ "mine": { "command": ["node", "agent.mjs"], "env": { … } } }`. */
export function readAgentsFile(path: string): ProgramAgent[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid(path, `it is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  if (!isObject(value)) throw invalid(path, 'expected an object of agents by name')
  return Object.entries(value).map(([name, agent]) => readAgent(path, name, agent))
}

/**
 * An agent from the command line: `name=command with arguments`.
 *
 * @example
 * parseAgent("mine=node agent.mjs") // { name: 'mine', command: 'node agent.mjs' }
 */
export function parseAgent(text: string): ProgramAgent {
  const at = text.indexOf('=')
  const name = text.slice(0, at).trim()
  const command = text.slice(at + 1).trim()
  if (at < 1 || command === '')
    throw new VitrineError(
      'argument_invalid',
      `--agent: expected name='command', such as mine='node agent.mjs', got ${JSON.stringify(text)}.`,
    )
  checkName(name, '--agent')
  return { name, command }
}

function readAgent(path: string, name: string, value: unknown): ProgramAgent {
  checkName(name, path)
  if (!isObject(value)) throw invalid(path, `${name}: expected an object with a command`)
  const { command, args, env, cwd, reach, shared, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalid(path, `${name}.${unknown}: there is no such setting`)
  if (!(typeof command === 'string' || isTexts(command)) || command.length === 0)
    throw invalid(path, `${name}.command: expected a text or a list of texts`)
  if (args !== undefined && !isTexts(args)) throw invalid(path, `${name}.args: expected a list of texts`)
  if (reach !== undefined && !isTexts(reach)) throw invalid(path, `${name}.reach: expected a list of texts`)
  if (cwd !== undefined && typeof cwd !== 'string') throw invalid(path, `${name}.cwd: expected a text`)
  if (shared !== undefined && typeof shared !== 'boolean')
    throw invalid(path, `${name}.shared: expected true or false`)
  if (env !== undefined && !isTextRecord(env)) throw invalid(path, `${name}.env: expected texts by name`)
  return {
    name,
    command,
    ...(args && { args }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(reach && { reach }),
    ...(shared !== undefined && { shared }),
  }
}

function checkName(name: string, where: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) return
  throw invalid(where, `expected a name of letters, digits, "_", "." and "-", got ${JSON.stringify(name)}`)
}

function invalid(where: string, what: string): VitrineError {
  return new VitrineError('argument_invalid', `${where}: ${what}.`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string')
}
