import type { DialectName } from './completion-request.ts'
import type { Mark } from './mark.ts'

/** A recorded request to the model. */
export interface ModelRequest {
  readonly dialect: DialectName | 'other'
  readonly method: string
  readonly path: string
  /** The API key that the agent sent. */
  readonly key?: string
  readonly stream: boolean
  /** Names of the offered tools; empty in requests for a title and similar ones. */
  readonly tools: readonly string[]
  /** Earlier messages of the user that the agent sent. */
  readonly earlier: string
  readonly prompt: string
  readonly mark?: Mark
  /** Number of tool results after the prompt. */
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
