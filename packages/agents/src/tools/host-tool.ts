import { type JsonObject, VitrineError } from '@vitrine/protocol'
import { type CheckInput, inputCheck } from './input.ts'

/**
 * A function of the host's process that an agent may call over the Model Context Protocol.
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
  /** Tells the model when to call the tool. */
  readonly description: string
  /** The JSON schema of an object. The arguments of a call are checked against it, and its defaults are filled in. */
  readonly input: JsonObject
  /** Returns a string, `{ content }` as in the Model Context Protocol, or any value that JSON can represent. */
  run(input: JsonObject, context: HostToolContext): unknown
}

/** The option that offers host functions to the agent of a session. */
export interface ToolsOption {
  readonly tools?: readonly HostTool[]
}

export interface HostToolContext {
  /** The session whose agent calls. */
  readonly session: string
  /** Aborted when the call times out, when the agent disconnects or cancels, and when the session closes. */
  readonly signal: AbortSignal
}

/** A tool with its compiled input check. */
export interface OfferedTool {
  readonly tool: HostTool
  readonly check: CheckInput
}

// Models accept at most 64 characters, and agents prepend `mcp__host__`.
const validName = /^[A-Za-z0-9_-]{1,48}$/

/** Returns the tools by name; throws when a name or an input schema makes a tool impossible to call. */
export function offerTools(tools: readonly HostTool[]): ReadonlyMap<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>()
  for (const tool of tools) {
    const { name } = tool
    if (!validName.test(name))
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
