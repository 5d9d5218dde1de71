import { spawn } from 'node:child_process'

/** The least that a command costs from Node: started with three pipes, waited for until they are closed. */
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

/** A sandbox per command, as one would start it by hand. */
export const bubblewrapArgs = [
  '--unshare-all',
  ...['--ro-bind', '/', '/'],
  ...['--dev', '/dev'],
  ...['--proc', '/proc'],
  ...['--tmpfs', '/tmp'],
  '--die-with-parent',
  '--new-session',
]
