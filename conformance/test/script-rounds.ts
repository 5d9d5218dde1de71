import { readdirSync } from 'node:fs'
import { createSandbox, inProcessSandboxClient, local } from '@vitrine/host'
import { createLocalSandbox } from '@vitrine/sandbox'

/** Creates and destroys sandboxes in rounds, and prints after each part of them what is left. Needs `--expose-gc`. */
export interface Remains {
  readonly rounds: number
  /** Sandboxes that the garbage collector could not free. */
  readonly alive: number
  readonly heapBytes: number
  readonly descriptors: number
  readonly directories: number
}

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
  print(await remains(0, sandboxes, prefix))
  for (let done = 1; done <= rounds; done += 1) {
    await round()
    if (done % Math.ceil(rounds / parts) === 0) print(await remains(done, sandboxes, prefix))
  }
}

async function remains(
  rounds: number,
  sandboxes: readonly WeakRef<DestroyableSandbox>[],
  prefix: string,
): Promise<Remains> {
  // Several times: finalizers and the promises of closed handles settle in between.
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    globalThis.gc?.()
  }
  return {
    rounds,
    alive: sandboxes.filter((sandbox) => sandbox.deref() !== undefined).length,
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
    directories: directoriesOf(prefix),
  }
}

/** The temporary directories, and the directories of sandboxes in them. */
function directoriesOf(prefix: string): number {
  const found = readdirSync('/var/tmp').filter((name) => name.startsWith(prefix))
  return found.reduce((count, name) => count + 1 + sandboxFolders(`/var/tmp/${name}/sandboxes`), 0)
}

function sandboxFolders(path: string): number {
  try {
    return readdirSync(path).length
  } catch {
    return 0
  }
}

function print(line: Remains): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const [kind = '', rounds = '', prefix = ''] = process.argv.slice(2)
await main(kind, Number(rounds), prefix)
