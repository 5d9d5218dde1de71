import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type HostSandbox, local, openHost } from '@vitrine/host'
import type { JournalItem, Session } from '@vitrine/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { allItems } from '../src/events/all-items.ts'
import { scale } from '../src/scale.ts'
import { background } from '../src/waiting/background.ts'
import { actor } from './session-actor.ts'
import { type PromptedResult, turnRecordFaults } from './turn-faults.ts'

type Step =
  | { readonly do: 'prompt'; readonly word: 'say' | 'file' | 'stall' | 'crash' }
  | { readonly do: 'again' | 'cancelOne'; readonly which: number }
  | { readonly do: 'cancel' | 'killAgent' | 'close' | 'restart' }
  | { readonly do: 'pause'; readonly milliseconds: number }

const which = fc.nat({ max: 5 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('prompt' as const),
      word: fc.constantFrom('say' as const, 'file' as const, 'stall' as const, 'crash' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('again' as const, 'cancelOne' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'killAgent' as const, 'close' as const, 'restart' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pause' as const),
      milliseconds: fc.constantFrom(0, 1, 5, 20, 60),
    }),
  },
)

interface SentPrompt {
  readonly turn: string
  readonly text: string
  readonly stop: AbortController
}

/** A sandbox with one session that any step may close, and that the next step opens again. */
class SessionModel {
  readonly sent: SentPrompt[] = []
  readonly results: Promise<PromptedResult>[] = []
  /** The turns that a caller may have cancelled. */
  readonly cancelled = new Set<string>()
  readonly #data = mkdtempSync('/var/tmp/vitrine-model-')
  #host: Awaited<ReturnType<typeof openHost>> | undefined

  async #sandbox(): Promise<HostSandbox> {
    chmodSync(this.#data, 0o711)
    this.#host ??= await openHost({
      data: this.#data,
      providers: [local({ isolation: 'none' })],
      agents: [actor],
      install: 'never',
    })
    const isKnown = (await this.#host.list()).some(({ id }) => id === 'model')
    return isKnown ? this.#host.attach('model') : this.#host.create({ id: 'model' })
  }

  async session(): Promise<Session> {
    const sandbox = await this.#sandbox()
    return sandbox.sessions.resumeOrCreate({ id: 'talk', agent: 'actor', queue: 3 })
  }

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'prompt': {
        const turn = `turn_${this.sent.length}`
        const prompt = { turn, text: `${step.word} ${turn}`, stop: new AbortController() }
        this.sent.push(prompt)
        return this.send(prompt)
      }
      case 'again': {
        const prompt = this.sent.at(-1 - step.which)
        return prompt && this.send(prompt)
      }
      case 'cancelOne': {
        const prompt = this.sent.at(-1 - step.which)
        if (prompt !== undefined) this.cancelled.add(prompt.turn)
        return prompt?.stop.abort()
      }
      case 'cancel':
        for (const { turn } of this.sent) this.cancelled.add(turn)
        return void background((await this.session()).cancel())
      case 'close':
        return void background((await this.session()).close())
      case 'restart':
        return this.restart()
      case 'killAgent':
        return this.#killAgent()
      case 'pause':
        await sleep(step.milliseconds)
    }
  }

  /** Sends a prompt, and collects what it comes to without waiting for it. */
  async send({ turn, text, stop }: SentPrompt): Promise<void> {
    const session = await this.session()
    const result = session.prompt(text, { turn, signal: stop.signal }).then(
      (result): PromptedResult => ({ turn, result }),
      (error: unknown): PromptedResult => ({ turn, error }),
    )
    if (!stop.signal.aborted) this.results.push(result)
  }

  async restart(): Promise<void> {
    await this.#host?.close()
    this.#host = undefined
  }

  async #killAgent(): Promise<void> {
    const started = (await this.items()).findLast((item) => item.type === 'agent.started')
    const pid = started !== undefined && 'pid' in started.data ? Number(started.data.pid) : Number.NaN
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL')
    } catch {
      // It has exited already.
    }
  }

  async items() {
    return allItems((await this.#sandbox()).journal, { limit: 10_000 })
  }

  async dispose(): Promise<void> {
    await this.#host?.close()
    rmSync(this.#data, { recursive: true, force: true })
  }
}

/** Prompts that are on record as cancelled, which is final, although no caller cancelled them. */
function wronglyCancelled(items: readonly JournalItem[], cancelled: ReadonlySet<string>): string[] {
  return items.flatMap((item) =>
    item.type === 'prompt.dropped' && item.data.reason === 'cancelled' && !cancelled.has(item.turn ?? '')
      ? [`${item.seq} ${item.turn}`]
      : [],
  )
}

function isEnd({ type, ...event }: JournalItem, turn: string): boolean {
  return (type === 'turn.finished' || type === 'prompt.dropped') && 'turn' in event && event.turn === turn
}

/** Sends a prompt again, and tells whether its turn started. A turn that stalls is cancelled. */
async function runsAgain(
  model: SessionModel,
  session: Session,
  { turn, text }: Pick<SentPrompt, 'turn' | 'text'>,
): Promise<boolean> {
  const started = Promise.withResolvers<void>()
  const unlisten = session.onEvent((event) => {
    if (event.type === 'turn.started' && event.turn === turn) started.resolve()
  })
  const settled = session.prompt(text, { turn }).then(
    () => undefined,
    () => undefined,
  )
  await Promise.race([started.promise, settled])
  if (text.startsWith('stall')) await session.cancel()
  await settled
  unlisten()
  return (await model.items()).some((item) => item.type === 'turn.started' && item.turn === turn)
}

it(
  'a session keeps the laws of turns in any history of prompts, cancels, crashes, closes and restarts',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const model = new SessionModel()
        try {
          for (const one of steps) await model.run(one)
          const last = await model.session()
          expect(wronglyCancelled(await model.items(), model.cancelled)).toEqual([])
          await last.cancel()
          const results = await Promise.all(model.results)
          await (await model.session()).close()
          expect(turnRecordFaults(await model.items(), results)).toEqual([])

          // The record answers for every turn that has run or was cancelled, whoever sends it again and when. Any other
          // prompt runs, once.
          await model.restart()
          const before = await model.items()
          for (const { turn, text } of model.sent) {
            const session = await model.session()
            const end = before.findLast((item) => isEnd(item, turn))
            if (end === undefined || end.type === 'prompt.dropped') {
              const isFinal = end?.data.reason === 'cancelled'
              expect([turn, await runsAgain(model, session, { turn, text })]).toEqual([turn, !isFinal])
              continue
            }
            await expect(session.prompt(`${text}!`, { turn })).rejects.toMatchObject({ code: 'turn_exists' })
            const again = await session.prompt(text, { turn }).then(
              (result): PromptedResult => ({ turn, result }),
              (error: unknown): PromptedResult => ({ turn, error }),
            )
            expect(turnRecordFaults(await model.items(), [again])).toEqual([])
          }
        } finally {
          await model.dispose()
        }
      }),
      { numRuns: scale.sessionHistories },
    )
  },
  // Long enough for all histories.
  scale.sessionHistories * 30_000,
)
