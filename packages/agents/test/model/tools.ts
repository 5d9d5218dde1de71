import { example, isList, type Property, type Schema } from './schema.ts'

/** A tool of the agent: with named arguments, or with plain text input. */
export type Tool =
  | { readonly kind: 'function'; readonly name: string; readonly parameters: Schema }
  | { readonly kind: 'text'; readonly name: string }

export type Call =
  | { readonly kind: 'function'; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'text'; readonly name: string; readonly input: string }

type FunctionTool = Extract<Tool, { kind: 'function' }>

const paths = ['file_path', 'filePath', 'path', 'absolute_path', 'absolutePath', 'filename', 'target_file']
const contents = ['content', 'contents', 'file_text', 'new_text', 'text']
const commands = ['command', 'cmd', 'commands', 'fullCommand', 'script']

/** A call that writes a file: with a tool for that, else with a patch, else with the shell. */
export function callToWrite(tools: readonly Tool[], path: string, content: string): Call | undefined {
  const writer = best(tools, [/^write/i, /^create/i, /write|create|edit/i], [paths, contents])
  if (writer) return fill(writer, [paths, path], [contents, content])
  const patcher = tools.find(({ name }) => name === 'apply_patch')
  if (patcher?.kind === 'text') return { kind: 'text', name: patcher.name, input: patch(path, content) }
  if (patcher) return fill(patcher, [['input', 'patch'], patch(path, content)])
  return callToRun(tools, `printf '%s' ${quoted(content)} > ${quoted(path)}`)
}

/** A call that runs a command in a shell. */
export function callToRun(tools: readonly Tool[], command: string): Call | undefined {
  const shell = best(
    tools,
    [/^(?:bash|shell|exec_command|shell_command)$/i, /shell|bash|command|exec/i],
    [commands],
  )
  return shell && fill(shell, [commands, command])
}

/** A call that runs a command outside of the agent's own sandbox, with the arguments of Codex. */
export function callToRunEscalated(tools: readonly Tool[], command: string): Call | undefined {
  const call = callToRun(tools, command)
  if (call?.kind !== 'function') return call
  const escalation = {
    sandbox_permissions: 'require_escalated',
    justification: `May I run ${command} outside the sandbox?`,
  }
  return { ...call, input: { ...call.input, ...escalation } }
}

/** The first tool, in the order of the names, that has an argument of each kind. */
function best(
  tools: readonly Tool[],
  names: readonly RegExp[],
  sorts: readonly (readonly string[])[],
): FunctionTool | undefined {
  const able = tools
    .filter((tool) => tool.kind === 'function')
    .filter((tool) => sorts.every((sort) => argument(tool, sort) !== undefined))
  for (const name of names) {
    const found = able.find((tool) => name.test(tool.name))
    if (found) return found
  }
  return undefined
}

function argument({ parameters }: FunctionTool, sort: readonly string[]): string | undefined {
  return sort.find((name) => parameters.properties?.[name])
}

/** Sets the named arguments, and a harmless value for every other required one. */
function fill(tool: FunctionTool, ...values: (readonly [sort: readonly string[], value: string])[]): Call {
  const { properties = {}, required = [] } = tool.parameters
  const given = values.map(([sort, value]) => {
    const name = argument(tool, sort) ?? sort[0]!
    return [name, shaped(name, properties[name], value)] as const
  })
  const rest = required.map((name) => [name, example(properties[name])] as const)
  return { kind: 'function', name: tool.name, input: Object.fromEntries([...rest, ...given]) }
}

function shaped(name: string, property: Property | undefined, value: string): unknown {
  if (!isList(property)) return value
  return name === 'command' ? ['bash', '-lc', value] : [value]
}

function patch(path: string, content: string): string {
  const lines = content.split('\n').map((line) => `+${line}`)
  return ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch'].join('\n')
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
