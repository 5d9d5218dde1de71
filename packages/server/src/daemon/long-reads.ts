import { VitrineError } from '@vitrine/protocol'
import { Semaphore } from '@vitrine/protocol/primitives'

const maxRunning = 4
const maxWaiting = 1_000

/** Limits how many long reads of one token run at once, until their response is made. The others wait in order. */
export class LongReads {
  readonly #byCaller = new Map<string, Semaphore>()

  /** `caller` is the name of a token, of which there are few. */
  async run<Result>(caller: string, signal: AbortSignal, read: () => Promise<Result>): Promise<Result> {
    const slots = this.#byCaller.get(caller) ?? new Semaphore(maxRunning, maxWaiting)
    this.#byCaller.set(caller, slots)
    const release = await slots.acquire(signal)
    if (release === undefined)
      throw new VitrineError(
        'too_many_reads',
        `The token ${caller} has ${maxRunning} long reads that run and ${maxWaiting} that wait, which is the limit.`,
      )
    try {
      return await read()
    } finally {
      release()
    }
  }
}
