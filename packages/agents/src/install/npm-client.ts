import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { findCommand } from '../registry/find-command.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** npm as a script for Node: no shell, and no other Node than ours. */
export interface NpmClient {
  readonly script: string
  /** All that the script needs. */
  readonly folder: string
}

/** The npm that runs this process, that came with its Node, or that is on PATH. */
export function findNpm(env: Environment, node: string): NpmClient {
  const script = candidates(env, node).find((path) => existsSync(path))
  if (script !== undefined) {
    const real = realpathSync(script)
    return { script: real, folder: dirname(dirname(real)) }
  }
  throw new VitrineError(
    'agent_install_failed',
    'npm was not found: neither from npm_execpath, nor beside Node, nor on PATH. Install npm, or put it on PATH.',
  )
}

function candidates(env: Environment, node: string): string[] {
  const bundled = (prefix: string) => join(prefix, 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  const running = env.npm_execpath
  const onPath = findCommand('npm', env.PATH)
  return [
    // Another package manager sets it as well; `npx` is a neighbour.
    ...(running !== undefined && /^np[mx]-cli\.js$/.test(basename(running))
      ? [join(dirname(running), 'npm-cli.js')]
      : []),
    bundled(dirname(dirname(node))),
    ...(onPath === undefined ? [] : [npmBehind(onPath), bundled(dirname(dirname(onPath)))]),
  ]
}

/** What the command on PATH links to; a script that starts it is not one for Node. */
function npmBehind(command: string): string {
  const real = realpathSync(command)
  return basename(real) === 'npm-cli.js' ? real : ''
}

const settingsMs = 60_000

/** What npm is set to on this machine, its logins left out by npm itself. */
export async function readNpmSettings(
  npm: NpmClient,
  env: Environment,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [npm.script, 'config', 'list', '--json'], {
    env: { ...env },
    timeout: settingsMs,
    maxBuffer: 16 * 1024 * 1024,
    ...(signal && { signal }),
  })
  const settings: unknown = JSON.parse(stdout)
  return typeof settings === 'object' && settings !== null ? { ...settings } : {}
}
