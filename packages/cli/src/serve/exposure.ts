import { BlockList, isIP } from 'node:net'
import type { HostFloor } from '@vitrine/host'
import { VitrineError } from '@vitrine/protocol'

export interface Exposure {
  readonly host: string
  readonly allowAnonymous: boolean
  readonly isolation: 'auto' | 'bubblewrap' | 'none'
  readonly allowUnisolated: boolean
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether only this machine can connect to the address. Names other than localhost count as reachable from outside. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/** Refuses to listen for other machines without a token, or without isolation unless that was allowed explicitly. */
export function checkExposure({ host, allowAnonymous, isolation, allowUnisolated }: Exposure): void {
  if (isLoopback(host)) return
  if (allowAnonymous)
    throw new VitrineError(
      'argument_invalid',
      `--no-token: other machines could connect to ${host} and run commands here. Leave it out, or listen on 127.0.0.1.`,
    )
  if (isolation === 'none' && !allowUnisolated)
    throw new VitrineError(
      'argument_invalid',
      `--isolation none: other machines can connect to ${host}, and commands would run on this machine without isolation. ` +
        'Use --isolation bubblewrap, listen on 127.0.0.1, or pass --allow-unisolated.',
    )
}

/** The default isolation of sandboxes. Where other machines can connect, `auto` must not fall back to none. */
export function isolationFor({
  host,
  isolation,
  allowUnisolated,
}: Omit<Exposure, 'allowAnonymous'>): Exposure['isolation'] {
  return isolation === 'auto' && !isLoopback(host) && !allowUnisolated ? 'bubblewrap' : isolation
}

/** The least isolation of every sandbox, whoever creates or attaches it. */
export function floorFor({ host, allowUnisolated }: Pick<Exposure, 'host' | 'allowUnisolated'>): HostFloor {
  return isLoopback(host) || allowUnisolated ? {} : { isolation: 'bubblewrap' }
}

/** A URL for callers on this machine: the wildcard address becomes the loopback address. */
export function callableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
