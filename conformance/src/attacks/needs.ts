import { lookup } from 'node:dns/promises'
import { hostname, networkInterfaces } from 'node:os'
import type { Capabilities } from '@vitrine/protocol'
import type { AttackDriver } from './kit.ts'

/** A capability of a sandbox, of its daemon, or of the machine that runs the kit. */
export type AttackNeed =
  | 'isolation'
  | 'egress'
  | 'no network'
  | 'limit of memory'
  | 'limit of processes'
  | 'limit of /tmp'
  | 'limit of disk'
  | 'small host'
  | 'terminals'
  | 'watching'
  | 'daemon'
  | 'agent'
  | 'restart'
  | 'screen'
  | 'name of the loopback'
  | 'address of the network'

/** Why the driver does not have what is needed, or undefined if it has it. */
export async function reasonWhyNot(
  need: AttackNeed,
  driver: AttackDriver,
  capabilities: () => Promise<Capabilities>,
): Promise<string | undefined> {
  const unless = (has: boolean, reason: string) => (has ? undefined : reason)
  const limits = async (): Promise<readonly string[]> => (await capabilities()).limits
  switch (need) {
    case 'isolation':
      return unless((await capabilities()).isolation !== 'none', 'it claims no isolation')
    case 'egress':
      return unless((await capabilities()).network.includes('egress'), 'it claims no network `egress`')
    case 'no network':
      return unless((await capabilities()).network.includes('none'), 'it claims no network `none`')
    case 'limit of memory':
      return unless((await limits()).includes('memory'), 'it claims no limit of memory')
    case 'limit of processes':
      return unless((await limits()).includes('pids'), 'it claims no limit of processes')
    case 'limit of /tmp':
      return unless((await limits()).includes('tmp'), 'it claims no limit of /tmp')
    case 'limit of disk':
      return unless(
        (await limits()).some((one) => one.startsWith('disk')),
        'it claims no limit of disk',
      )
    case 'small host':
      return unless(driver.smallHost !== undefined, 'its host cannot look smaller than it is')
    case 'terminals':
      return unless((await capabilities()).terminals, 'it claims no terminals')
    case 'watching':
      return unless((await capabilities()).watching !== 'none', 'it claims no watching')
    case 'daemon':
      return unless(driver.daemon !== undefined, 'no daemon serves it')
    case 'agent':
      return unless((await driver.daemon?.())?.agent !== undefined, 'it does not have the agent of the kit')
    case 'restart':
      return unless((await driver.daemon?.())?.restart !== undefined, 'its daemon cannot be restarted')
    case 'screen':
      return unless((await driver.daemon?.())?.show !== undefined, 'nothing prints its journal for people')
    case 'name of the loopback':
      return unless(
        (await loopbackName()) !== undefined,
        'no name of this machine resolves to its loopback address',
      )
    case 'address of the network':
      return unless(networkAddress() !== undefined, 'this machine has no address but the loopback')
  }
}

/** A name other than localhost that the resolver of this machine resolves to a loopback address. */
export async function loopbackName(): Promise<string | undefined> {
  for (const name of [hostname(), 'ip6-localhost', 'ip6-loopback']) {
    const found = await lookup(name, { all: true }).catch(() => [])
    if (found.length > 0 && found.every(({ address }) => /^(127\.|::1$)/.test(address))) return name
  }
  return undefined
}

/** An address of this machine that is not the loopback: the kind of destination that a proxy dials. */
export function networkAddress(): string | undefined {
  return Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address
}
