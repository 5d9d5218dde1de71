import { afterAll, describe, expect, it } from 'vitest'
import {
  type AttackAim,
  type AttackDriver,
  type AttackedDaemon,
  attackAims,
  attacks,
  runAttack,
} from '../src/index.ts'
import { RemoteAttacks } from './remote-attacks.ts'
import {
  acceptsAnyWidth,
  attachesWithout,
  countsAllConnections,
  dropsPrototypes,
  failsAtDepth,
  givesVariables,
  passesTokens,
  repeatsValues,
  servesInTurn,
  type WeakDaemon,
} from './weak-daemons.ts'
import {
  believesOutput,
  followsLinks,
  notIsolated,
  openProxy,
  unpacksAnything,
  withoutAllowList,
  withoutLimits,
  withoutMasking,
  withoutPolicy,
} from './weak-providers.ts'

const remote = new RemoteAttacks('none')
const closing: (() => void)[] = []
afterAll(async () => {
  for (const close of closing) close()
  await remote.close()
})

/** Sandboxes of a daemon with a weakness. */
function behind(weaken: (daemon: AttackedDaemon) => Promise<WeakDaemon>): AttackDriver {
  return {
    make: (options) => remote.make(options),
    async daemon() {
      const { daemon, close } = await weaken(await remote.daemon())
      closing.push(close)
      return daemon
    },
  }
}

/** A proxy that checks nothing. */
const unguarded = behind(openProxy)

const badBody = 'a body that is too deep, too wide or names a prototype is refused with a reason'

/** For each aim a provider that is weak there, and the promises that it breaks. */
const weak: readonly (readonly [
  aim: AttackAim,
  what: string,
  driver: AttackDriver,
  promises: readonly string[],
])[] = [
  [
    'isolation',
    'a provider that claims an isolation that it does not have',
    notIsolated,
    [
      'a sandbox is isolated at least as much as it claims',
      'a command does not read or change files of the host',
    ],
  ],
  [
    'files',
    'a provider that follows links',
    followsLinks,
    [
      'no file call follows a link out of the workspace, whether its target exists or not',
      'a link that is swapped in during a call does not redirect it',
    ],
  ],
  [
    'archives',
    'a provider that unpacks anything',
    unpacksAnything,
    [
      'a tar that leads out of the workspace is refused as a whole by every call',
      'an archive is not unpacked through a link that a command made before',
    ],
  ],
  [
    'commands',
    'a provider that ignores the policy',
    withoutPolicy,
    ['a denied command is not run in any spelling', 'a policy that cannot be read makes no sandbox'],
  ],
  [
    'output',
    'a provider that believes what a process prints',
    believesOutput,
    ['a process cannot forge its end, whatever it prints'],
  ],
  [
    'output',
    'a screen that prints everything as it is',
    unguarded,
    ['what a program prints is shown to people as text only'],
  ],
  [
    'secrets',
    'a provider that gives secrets as ordinary variables',
    withoutMasking,
    [
      'a secret of a call is given to the command, and is in no event in any encoding',
      'a secret that is printed in pieces is in no event',
      'a secret of a sandbox is given to every command, and is in no event, also after a restart',
    ],
  ],
  [
    'limits',
    'a provider that sets no limits',
    withoutLimits,
    ['a sandbox starts no more processes than its limit'],
  ],
  [
    'network',
    'a provider with the network of its host',
    withoutAllowList,
    ['a program that ignores the proxy reaches nothing'],
  ],
  [
    'daemon',
    'a daemon without a guard',
    unguarded,
    [
      'a request without a valid token reads and changes nothing',
      'a request for a foreign host is refused, even with a valid token',
      'a page of a foreign origin may not call, even with a valid token',
      'a read token changes nothing',
      'a request with an absolute URL or with two hosts is refused',
      'a preview by path cannot act as a page of the daemon',
    ],
  ],
  [
    'daemon',
    'a daemon that counts all connections alike',
    behind(countsAllConnections),
    [
      'connections without a token do not lock out the holder of one',
      'connections of a read token do not lock out the holder of a full one',
    ],
  ],
  [
    'daemon',
    'a daemon that repeats values in its errors',
    behind(repeatsValues),
    ['an error does not repeat a value that may be a secret'],
  ],
  ['daemon', 'a daemon that fails at a deep body', behind(failsAtDepth), [badBody]],
  ['daemon', 'a daemon that accepts a body of any width', behind(acceptsAnyWidth), [badBody]],
  ['daemon', 'a daemon that drops the name of a prototype', behind(dropsPrototypes), [badBody]],
  [
    'daemon',
    'a daemon that passes tokens to the program behind a preview',
    behind(passesTokens),
    [
      'a preview passes no token of the daemon to the program inside',
      'a preview passes no token in the subprotocols of a WebSocket to the program inside',
    ],
  ],
  [
    'daemon',
    'a daemon that gives credentials as ordinary variables',
    behind(givesVariables),
    ['a secret that an agent sends in pieces to two sessions in turns is in neither of them'],
  ],
  [
    'daemon',
    'a daemon that serves one request after the other',
    behind(servesInTurn),
    ['long reads of a read token do not hold up other requests'],
  ],
  [
    'daemon',
    'a daemon that attaches without the secrets',
    behind(attachesWithout),
    ['a sandbox that was created with a secret is not used without it after a restart'],
  ],
]

describe.each(weak)('%s: %s', (aim, _what, driver, promises) => {
  it.each(promises)('does not hold: %s', async (promise) => {
    const attack = attacks[aim].find((one) => one.promise === promise)
    expect(attack, promise).toBeDefined()
    // The attack succeeded. Any other error would be a fault of the attack.
    await expect(runAttack(driver, attack!)).rejects.toMatchObject({ name: 'AssertionError' })
  })
})

it('every aim of the kit has a provider that is weak there', () => {
  expect(new Set(weak.map(([aim]) => aim))).toEqual(new Set(attackAims))
})

it('no two attacks have the same promise', () => {
  const promises = attackAims.flatMap((aim) => attacks[aim].map(({ promise }) => promise))
  expect(new Set(promises).size).toBe(promises.length)
})
