import { readFileSync } from 'node:fs'
import type { ProgramAgent } from '@vitrine/agents'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { hostOptions, parseAs } from '@vitrine/protocol/options'
import { namePattern, systemErrorCode } from '@vitrine/protocol/primitives'

/** Reads custom agents from a file: `{ "mine": { "command": ["node", "agent.mjs"], "env": { … } } }`. */
export function readAgentsFile(path: string): ProgramAgent[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid(path, `it is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
  return Object.entries(checked(path, value)).map(([name, agent]) => ({ name, ...agent }))
}

/**
 * Parses an agent from the command line: `name=command with arguments`.
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
  assertName(name, '--agent')
  return { name, command }
}

function checked(path: string, value: unknown): Readonly<Record<string, Omit<ProgramAgent, 'name'>>> {
  try {
    const agents = parseAs('agents', hostOptions.agentsFile, value)
    // JSON has no `undefined`, so the exact optional properties of the type hold.
    return agents as Readonly<Record<string, Omit<ProgramAgent, 'name'>>>
  } catch (error) {
    throw isVitrineError(error) ? invalid(path, error.message.replace(/\.$/, '')) : error
  }
}

function assertName(name: string, source: string): void {
  if (namePattern.test(name)) return
  throw invalid(source, `expected a name of letters, digits, "_", "." and "-", got ${JSON.stringify(name)}`)
}

function invalid(source: string, problem: string): VitrineError {
  return new VitrineError('argument_invalid', `${source}: ${problem}.`)
}
