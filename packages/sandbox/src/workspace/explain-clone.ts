import { type AllowList, addressKind, readTarget } from '@vitrine/egress'

/** The destinations that a sandbox may reach; undefined if it shares the network of the host. */
export type CloneNetwork = AllowList | undefined

const ports: Readonly<Record<string, string>> = {
  'https:': '443',
  'http:': '80',
  'ssh:': '22',
  'git:': '9418',
}

/** Whether git reads the repository from the sandbox's own file system. */
export function isLocalRepository(url: string): boolean {
  return url.startsWith('/') || url.startsWith('file://')
}

/** A sentence about the likely cause of a failed clone; '' if it is unknown. */
export function explainClone(url: string, network: CloneNetwork, output: string): string {
  const entry = destinationOf(url)
  if (entry !== undefined && !mayReach(network, entry))
    return `url: the sandbox may not reach ${entry}; allow it with egress: ['${entry}'].`
  if (/not found|does not exist|does not appear to be a git repository/i.test(output))
    return isLocalRepository(url)
      ? 'url: there is no repository at this path in the sandbox; bind its directory with binds.'
      : 'url: there is no repository at this address, or it cannot be read with these credentials.'
  if (entry === undefined) return ''
  if (/could not resolve host/i.test(output))
    return `url: the host of ${entry} has no address; check its spelling, and that this machine has a network.`
  // A proxy answers 502 for a destination that it cannot connect to; a forwarded port closes the connection.
  if (/connect to|connection refused|empty reply|timed out|response 502|error: 502/i.test(output))
    return `url: no server answers at ${entry}; check the address, that the server runs, and that this machine has a network.`
  return ''
}

function mayReach(network: CloneNetwork, entry: string): boolean {
  const target = readTarget(entry)
  if (network === undefined || !('host' in target) || network.has(target)) return true
  // The sandbox reaches a listed port of this machine by any loopback address.
  return addressKind(target.host) === 'loopback' && network.has({ host: 'localhost', port: target.port })
}

/** The host and port that git connects to: `github.com:443`. */
function destinationOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  const port = parsed?.port || ports[parsed?.protocol ?? '']
  if (parsed !== null && parsed.hostname !== '' && port !== undefined) return `${parsed.hostname}:${port}`
  // git@github.com:owner/name.git
  const [, host] = /^(?:[^/:@]+@)?([^/:@]+):(?!\/\/)/.exec(url) ?? []
  return host === undefined ? undefined : `${host}:22`
}
