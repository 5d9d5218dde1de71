import { BlockList, isIP } from 'node:net'
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

/** Whether only this machine gets there. A name that is not known to be this machine is not. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/** What other machines reach is guarded, unless somebody has said otherwise in so many words. */
export function checkExposure({ host, allowAnonymous: anyone, isolation, allowUnisolated }: Exposure): void {
  if (isLoopback(host)) return
  if (anyone)
    throw new VitrineError(
      'argument_invalid',
      `--no-token: on ${host} other machines could run anything here. Leave it out, or listen on 127.0.0.1.`,
    )
  if (isolation === 'none' && !allowUnisolated)
    throw new VitrineError(
      'argument_invalid',
      `--isolation none: whoever has the token would run commands on this very machine, and ${host} is reached from others. ` +
        'Use --isolation bubblewrap, listen on 127.0.0.1, or say --allow-unisolated.',
    )
}

/** What sandboxes run in unless they say otherwise: where other machines get in, `auto` does not end without any. */
export function isolationFor({
  host,
  isolation,
  allowUnisolated,
}: Omit<Exposure, 'allowAnonymous'>): Exposure['isolation'] {
  return isolation === 'auto' && !isLoopback(host) && !allowUnisolated ? 'bubblewrap' : isolation
}

/** An address for callers on this machine: nobody can call "every address". */
export function addressFor(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
