import { type EventInput, newId } from '@vitrine/protocol'
import { message, output, work, workNames } from '../events/inputs.ts'
import { between, type Random } from './random.ts'

const largeText = 'what does not fit into an event '.repeat(3_000)

/** Random events of a busy host: starts, ends, output, messages, and sometimes a field that becomes a blob. */
export class Load {
  readonly #random: Random
  readonly #open: EventInput[] = []

  constructor(random: Random) {
    this.#random = random
  }

  batch(): EventInput[] {
    return Array.from({ length: between(this.#random, 1, 12) }, () => this.#event())
  }

  #event(): EventInput {
    const dice = this.#random()
    if (dice < 0.2) {
      const kind = workNames[between(this.#random, 0, workNames.length - 1)] ?? 'operation'
      const { start, end } = work[kind](newId('operation'))
      this.#open.push(end)
      return start
    }
    if (dice < 0.35) return this.#open.shift() ?? message('nothing to end')
    if (dice < 0.36)
      return { type: 'log.message', data: { level: 'info', message: 'large', extra: largeText } }
    if (dice < 0.7) return output('line of output\n'.repeat(between(this.#random, 1, 8)))
    return message(`message ${dice}`)
  }
}
