import { posix } from 'node:path'
import { type Command, VitrineError } from '@vitrine/protocol'

/** With the variables of a call, its arguments must fit into the event that records it. */
const maxArguments = 40_000

/** Converts a command to its argument vector. */
export function argvOf(command: Command, shell: string | readonly string[] = 'sh'): readonly string[] {
  if (typeof command === 'string') {
    if (command.includes('\0')) throw invalid('command: must not contain a NUL character.')
    const prefix = typeof shell === 'string' ? [shell, '-c'] : shell
    return [...checkArgv('shell', prefix), command]
  }
  return checkArgv('command', command)
}

function checkArgv(name: string, argv: readonly string[]): readonly string[] {
  if (!Array.isArray(argv) || argv.length === 0)
    throw invalid(
      `${name}: expected a string or an array that starts with the name of a program, got ${Array.isArray(argv) ? 'an empty array' : `a ${typeof argv}`}.`,
    )
  if (argv.length > maxArguments)
    throw invalid(
      `${name}: expected at most ${maxArguments} arguments, got ${argv.length}; pass more of them through a file or \`stdin\`.`,
    )
  for (const [index, part] of argv.entries()) {
    if (typeof part !== 'string') throw invalid(`${name}[${index}]: expected a string, got ${typeof part}.`)
    if (part.includes('\0')) throw invalid(`${name}[${index}]: must not contain a NUL character.`)
  }
  if (argv[0] === '') throw invalid(`${name}[0]: expected the name of a program, got an empty string.`)
  return argv
}

/** Resolves the working directory of a command: the workspace by default, and always below one of `places`. */
export function workingDirectory(root: string, roots: readonly string[], cwd?: string): string {
  if (cwd === undefined) return root
  if (typeof cwd !== 'string' || cwd.includes('\0'))
    throw invalid('cwd: expected a path without NUL characters.')
  const path = posix.resolve(root, cwd)
  if (roots.some((folder) => path === folder || path.startsWith(`${folder}/`))) return path
  throw new VitrineError('cwd_outside', `The working directory ${path} is outside of ${roots.join(', ')}.`)
}

function invalid(message: string): VitrineError {
  return new VitrineError('argument_invalid', message)
}
