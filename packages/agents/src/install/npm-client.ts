import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { VitrineError } from '@vitrine/protocol'
import { findCommand } from '../registry/find-command.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** npm as a script for our own Node, without a shell. */
export interface NpmClient {
  readonly script: string
  /** The package folder of npm, which the script needs. */
  readonly folder: string
}

/** Finds the npm that started this process, the one bundled with its Node, or the one on PATH. */
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
    // Other package managers set npm_execpath too; `npx-cli.js` is in the same folder as `npm-cli.js`.
    ...(running !== undefined && /^np[mx]-cli\.js$/.test(basename(running))
      ? [join(dirname(running), 'npm-cli.js')]
      : []),
    bundled(dirname(dirname(node))),
    ...(onPath === undefined ? [] : [npmBehind(onPath), bundled(dirname(dirname(onPath)))]),
  ]
}

/** The script that the command on PATH links to; empty for a shell wrapper, which Node cannot run. */
function npmBehind(command: string): string {
  const real = realpathSync(command)
  return basename(real) === 'npm-cli.js' ? real : ''
}

const settingsMs = 60_000

/** Reads the npm configuration of this machine; npm itself leaves logins out. */
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
