import type { DialectName } from './ask.ts'
import type { Mark } from './mark.ts'

/** What was asked of the model, once. */
export interface ModelRequest {
  readonly dialect: DialectName | 'other'
  readonly method: string
  readonly path: string
  /** What the agent showed as its key. */
  readonly key?: string
  readonly stream: boolean
  /** Names of the tools that were sent; none in requests for a title or the like. */
  readonly tools: readonly string[]
  /** What the user said before the prompt, as far as the agent sent it. */
  readonly earlier: string
  readonly prompt: string
  readonly mark?: Mark
  /** How many results of tools came after the prompt. */
  readonly results: number
}

const limit = 1000

/** The newest requests, oldest first. */
export function requestLog() {
  const requests: ModelRequest[] = []
  return {
    requests: requests as readonly ModelRequest[],
    add(request: ModelRequest) {
      requests.push(request)
      if (requests.length > limit) requests.shift()
    },
  }
}
