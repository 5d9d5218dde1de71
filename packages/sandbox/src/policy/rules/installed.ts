const systemFolders = new Set(['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin'])

/** Whether a program is named as an installed one is: `./env` and `/tmp/env` may be anything. */
export function isInstalled(program: string): boolean {
  const slash = program.lastIndexOf('/')
  return slash < 0 || systemFolders.has(program.slice(0, slash))
}
