import { type AgentOutput, inProcessSandboxClient } from '@vitrine/host'
import {
  type Deliverable,
  type OpenSandboxRunOptions,
  openSandboxRun,
  type SandboxRun,
  SandboxRunError,
} from '@vitrine/runtime'
import { print, remainsAfter } from './remains.ts'

// Opens and closes runs that end in every way, and prints after each part of them what is left.
const parts = 10
/** Two runs one after the other, then three at once. */
const cycle = [1, 1, 3]
const runsInCycle = 5
const warmUpCycles = 3

const token = { type: 'token', data: { text: 'x'.repeat(1_000) } }
const tokensOfTurn = 500

async function* onPrompt(
  prompt: string,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<AgentOutput> {
  for (let sent = 0; sent < tokensOfTurn; sent += 1) yield token
  if (prompt === 'fail') throw new Error('The model is gone.')
  if (prompt === 'spend') yield { type: 'llm_call', data: { inputTokens: 2_000 } }
  if (prompt !== 'finish') await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

type Run = SandboxRun<number>

/** Of a run: its options, its deliverable, and its turns; `outcome` is the code of its last error. */
interface RunCase {
  readonly outcome: string
  readonly options?: Partial<OpenSandboxRunOptions>
  readonly deliverable?: Deliverable<number>
  drive(run: Run): Promise<unknown>
}

const onToken = (run: Run, act: () => unknown) => run.observeEvents(({ type }) => type === 'token' && act())

const cases: readonly RunCase[] = [
  {
    outcome: 'ok',
    async drive(run) {
      await run.start('finish')
      await run.resume('finish')
    },
  },
  {
    outcome: 'cancelled',
    drive(run) {
      const abort = new AbortController()
      onToken(run, () => abort.abort())
      return run.start('wait', { signal: abort.signal })
    },
  },
  {
    outcome: 'cancelled',
    drive(run) {
      onToken(run, () => void run.close())
      return run.start('wait')
    },
  },
  { outcome: 'agent_failed', drive: (run) => run.start('fail') },
  { outcome: 'budget_exhausted', options: { budget: { tokens: 1_000 } }, drive: (run) => run.start('spend') },
  {
    outcome: 'run_failed',
    options: { beforeStart: () => Promise.reject(new Error('not prepared')) },
    drive: (run) => run.start('finish'),
  },
  {
    outcome: 'file_not_found',
    deliverable: { kind: 'artifact', path: 'missing', fromArtifact: (text) => text.length },
    drive: (run) => run.start('finish'),
  },
]

async function main(runs: number, prefix: string): Promise<void> {
  // One client and one signal for all runs: neither may remember a run.
  const client = inProcessSandboxClient({ workdir: prefix, onPrompt })
  const { signal } = new AbortController()
  const agentRun = { name: 'rounds', profile: { agent: 'in-process' }, taskToPrompt: (task: string) => task }
  const watched: WeakRef<object>[] = []

  async function oneRun({ outcome, options, deliverable, drive }: RunCase): Promise<void> {
    await using run = await openSandboxRun(
      client,
      {
        agentRun,
        signal,
        readRetryDelayMs: 1,
        beforeStart: ({ box }) => box.exec('echo written > file'),
        onSandboxEvent: () => undefined,
        ...options,
      },
      deliverable ?? { kind: 'events', fromEvents: (events) => events.length },
    )
    watched.push(new WeakRef(run))
    const error = await drive(run).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (error instanceof SandboxRunError) watched.push(new WeakRef(error.events))
    const code = error instanceof SandboxRunError ? error.code : error === undefined ? 'ok' : String(error)
    if (code !== outcome) throw new Error(`Expected a run to end with ${outcome}, got ${code}.`)
    if (outcome !== 'run_failed') watched.push(new WeakRef(run.box))
  }

  let started = 0
  const oneCycle = async () => {
    for (const atOnce of cycle)
      await Promise.all(
        Array.from({ length: atOnce }, () => oneRun(cases[started++ % cases.length] as RunCase)),
      )
  }
  for (let done = 0; done < warmUpCycles; done += 1) await oneCycle()
  print(await remainsAfter(0, watched, prefix))
  const cycles = Math.ceil(runs / runsInCycle)
  for (let done = 1; done <= cycles; done += 1) {
    await oneCycle()
    if (done % Math.ceil(cycles / parts) === 0) print(await remainsAfter(done * runsInCycle, watched, prefix))
  }
  const left = await client.list()
  if (left.length > 0) throw new Error(`Expected no sandbox in the client, got ${left.length}.`)
}

const [runs = '', prefix = ''] = process.argv.slice(2)
await main(Number(runs), prefix)
