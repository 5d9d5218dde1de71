/** What the environment says, read once. */
export interface Settings {
  /** Pauses are multiplied by it; 0 is none. */
  readonly pace: number
  readonly slowStartMs: number
  /** Neither load nor resume is offered. */
  readonly noLoad: boolean
  /** The end of the input and SIGTERM do not end it. */
  readonly ignoreEnd: boolean
  readonly needsKey: boolean
  readonly hasKey: boolean
  /** Where sessions are kept; without it they live as long as the process. */
  readonly home: string | undefined
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  return {
    pace: atLeastZero(env.VITRINE_DEMO_PACE, 1),
    slowStartMs: atLeastZero(env.VITRINE_DEMO_SLOW_START_MS, 0),
    noLoad: env.VITRINE_DEMO_NO_LOAD === '1',
    ignoreEnd: env.VITRINE_DEMO_IGNORE_EOF === '1',
    needsKey: env.VITRINE_DEMO_REQUIRE_KEY === '1',
    hasKey: (env.DEMO_API_KEY ?? '') !== '',
    home: env.HOME === '' ? undefined : env.HOME,
  }
}

function atLeastZero(text: string | undefined, otherwise: number): number {
  const number = Number(text)
  return text === undefined || text === '' || !(number >= 0) ? otherwise : number
}
