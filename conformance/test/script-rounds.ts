import { createSandbox, inProcessSandboxClient, local } from '@vitrine/host'
import { createLocalSandbox } from '@vitrine/sandbox'
import { print, remainsAfter } from './remains.ts'

// Creates and destroys sandboxes in rounds, and prints after each part of them what is left.
const parts = 10
const warmUp = 5

interface DestroyableSandbox {
  readonly lifecycle: { destroy(): Promise<void> }
}

const kinds: Readonly<Record<string, (prefix: string) => () => Promise<DestroyableSandbox>>> = {
  script: (prefix) => async () => {
    const sandbox = await createSandbox({ prefix, provider: local({ isolation: 'none' }) })
    await sandbox.exec('echo x > file')
    return sandbox
  },
  'in-process': (prefix) => {
    // One client for all rounds: it must not remember its sandboxes.
    const client = inProcessSandboxClient({ workdir: prefix, onPrompt: (prompt) => [prompt] })
    return async () => {
      const sandbox = await client.create()
      const session = await sandbox.openSession({ agent: 'in-process' })
      session.onEvent(() => undefined)
      await session.prompt('hello')
      return sandbox
    }
  },
  engine: (data) => async () => {
    const sandbox = await createLocalSandbox({
      provider: local({ data: `/var/tmp/${data}data`, isolation: 'none' }),
    })
    await sandbox.exec('true')
    return sandbox
  },
}

async function main(kind: string, rounds: number, prefix: string): Promise<void> {
  const create = kinds[kind]?.(prefix)
  if (create === undefined) throw new Error(`Expected one of ${Object.keys(kinds).join(', ')}, got ${kind}.`)
  const sandboxes: WeakRef<DestroyableSandbox>[] = []
  // In its own function, so that no variable of the loop keeps the sandbox alive.
  const round = async () => {
    const sandbox = await create()
    sandboxes.push(new WeakRef(sandbox))
    await sandbox.lifecycle.destroy()
  }
  for (let done = 0; done < warmUp; done += 1) await round()
  print(await remainsAfter(0, sandboxes, prefix))
  for (let done = 1; done <= rounds; done += 1) {
    await round()
    if (done % Math.ceil(rounds / parts) === 0) print(await remainsAfter(done, sandboxes, prefix))
  }
}

const [kind = '', rounds = '', prefix = ''] = process.argv.slice(2)
await main(kind, Number(rounds), prefix)
