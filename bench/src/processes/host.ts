// A host that the benchmark kills: starts process trees with the given implementation, reports ready, and waits.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, local } from '@vitrine/sandbox'
import { openPeer } from '../peers/peers.ts'
import { treeCommand } from './alive.ts'

const [who = '', mark = '', folder = '', trees = ''] = process.argv.slice(2)
const start = await starter()
await Promise.all(Array.from({ length: Number(trees) }, () => start(treeCommand(mark))))
process.send?.('ready')
setInterval(() => undefined, 60_000)

async function starter(): Promise<(command: string) => Promise<unknown>> {
  switch (who) {
    case 'none':
    case 'bubblewrap': {
      const store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
      const provider = local({ isolation: who, data: join(folder, 'data') })
      const sandbox = await createLocalSandbox({ store, provider })
      return (command) => sandbox.spawn(command)
    }
    case 'raw':
      return async (command) => spawn('sh', ['-c', command], { detached: true })
    case 'tanstack':
    case 'openai': {
      const peer = await openPeer(who, folder)
      if ('missing' in peer) throw new Error(peer.missing)
      return (command) => peer.start(command)
    }
    default:
      throw new Error(
        `Expected none, bubblewrap, raw, tanstack or openai as the first argument, got "${who}".`,
      )
  }
}
