import { VitrineError } from '@vitrine/protocol'
import { Semaphore } from '@vitrine/protocol/primitives'
import type { JsonResponse } from '../responses/json.ts'

const maxRunning = 4
const maxWaiting = 1_000

/**
 * Limits how many long reads of one token run at once. A read has its slot until its response is sent, so a token holds
 * the memory of four responses at most. The others wait in order.
 */
export class LongReads {
  readonly #byCaller = new Map<string, Semaphore>()
  readonly #stallMs: number

  /** `stallMs`: how long a reader may take for one part of its response. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs
  }

  /** `caller` is the name of a token, of which there are few. */
  async run<T>(
    caller: string,
    signal: AbortSignal,
    read: () => Promise<JsonResponse<T>>,
  ): Promise<JsonResponse<T>> {
    const slots = this.#byCaller.get(caller) ?? new Semaphore(maxRunning, maxWaiting)
    this.#byCaller.set(caller, slots)
    const release = await slots.acquire(signal)
    if (release === undefined)
      throw new VitrineError(
        'too_many_reads',
        `The token ${caller} has ${maxRunning} long reads that run and ${maxWaiting} that wait, which is the limit.`,
      )
    try {
      const response = await read()
      return response.releasing(release, this.#stallMs) as JsonResponse<T>
    } catch (error) {
      release()
      throw error
    }
  }
}
