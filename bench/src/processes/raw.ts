import { spawn } from 'node:child_process'

/** The minimal cost of a command from Node: spawn with three pipes and wait until they are closed. */
export function raw(file: string, args: readonly string[] = []): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args)
    child.stdin.on('error', () => undefined)
    child.stdin.end()
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })
}

/** The arguments of a plain bwrap sandbox for one command. */
export const bubblewrapArgs = [
  '--unshare-all',
  ...['--ro-bind', '/', '/'],
  ...['--dev', '/dev'],
  ...['--proc', '/proc'],
  ...['--tmpfs', '/tmp'],
  '--die-with-parent',
  '--new-session',
]
