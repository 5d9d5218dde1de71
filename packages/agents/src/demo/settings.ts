/** Settings from the environment, read once. */
export interface DemoSettings {
  /** Multiplies all pauses: 2 is half as fast, 0 disables them. */
  readonly pauseFactor: number
  readonly slowStartMs: number
  /** Do not offer `session/load` and `session/resume`. */
  readonly noLoad: boolean
  /** Keep running after the end of stdin and after SIGTERM. */
  readonly ignoreEof: boolean
  readonly needsKey: boolean
  readonly hasKey: boolean
  /** Directory under which sessions are stored; without it they exist only in this process. */
  readonly home: string | undefined
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): DemoSettings {
  return {
    pauseFactor: nonNegative(env.VITRINE_DEMO_PACE, 1),
    slowStartMs: nonNegative(env.VITRINE_DEMO_SLOW_START_MS, 0),
    noLoad: env.VITRINE_DEMO_NO_LOAD === '1',
    ignoreEof: env.VITRINE_DEMO_IGNORE_EOF === '1',
    needsKey: env.VITRINE_DEMO_REQUIRE_KEY === '1',
    hasKey: (env.DEMO_API_KEY ?? '') !== '',
    home: env.HOME === '' ? undefined : env.HOME,
  }
}

function nonNegative(text: string | undefined, fallback: number): number {
  const number = Number(text)
  return text === undefined || text === '' || !(number >= 0) ? fallback : number
}
