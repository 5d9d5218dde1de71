import { type JsonObject, VitrineError } from '@vitrine/protocol'
import { type CheckInput, inputCheck } from './input.ts'

/**
 * A function of the host's program that an agent may call.
 *
 * @example
 * const weather: HostTool = {
 *   name: 'weather',
 *   description: 'The weather of a city, now.',
 *   input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
 *   run: async ({ city }, { signal }) => lookUp(city, signal),
 * }
 */
export interface HostTool {
  /** Letters, digits, `_` and `-`. */
  readonly name: string
  /** What the model reads to know when to call it. */
  readonly description: string
  /** The JSON schema of an object. What a call brings is checked against it, and its defaults are filled in. */
  readonly input: JsonObject
  /** A text, `{ content }` as the Model Context Protocol has it, or anything that JSON can carry. */
  run(input: JsonObject, context: HostToolContext): unknown
}

export interface HostToolContext {
  /** The session whose agent calls. */
  readonly session: string
  /** Aborted when the call takes too long, when the agent goes away or cancels, and when the session closes. */
  readonly signal: AbortSignal
}

/** A tool that is ready to be called. */
export interface OfferedTool {
  readonly tool: HostTool
  readonly check: CheckInput
}

// Models take 64 characters at most, and agents put `mcp__host__` in front.
const goodName = /^[A-Za-z0-9_-]{1,48}$/

/** By name; throws when one of them could never be called. */
export function offerTools(tools: readonly HostTool[]): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>()
  for (const tool of tools) {
    const { name } = tool
    if (!goodName.test(name))
      throw invalid(name, 'expected a name of 1 to 48 letters, digits, "_" and "-"', undefined)
    if (offered.has(name)) throw invalid(name, 'another tool has this name', undefined)
    if (tool.input.type !== 'object')
      throw invalid(name, "expected the schema of an object, with type: 'object'", undefined)
    offered.set(name, { tool, check: checkOf(tool) })
  }
  return offered
}

function checkOf({ name, input }: HostTool): CheckInput {
  try {
    return inputCheck(input)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw invalid(name, `its input schema cannot be checked: ${why}`, error)
  }
}

function invalid(name: string, why: string, cause: unknown): VitrineError {
  const message = `The tool ${JSON.stringify(name)} cannot be offered: ${why}.`
  return new VitrineError('argument_invalid', message, { cause, details: { tool: name } })
}
