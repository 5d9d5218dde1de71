/** Exit codes of a program that a signal ended: 128 plus the signal's number. */
export const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export type EndSignal = keyof typeof signalCodes

const signals = Object.keys(signalCodes) as EndSignal[]

/** Makes every signal exit the process at once, until a command replaces the handler with `takeSignals`. */
export function exitOnSignals(): void {
  for (const signal of signals) process.on(signal, exit)
}

/** Replaces the default exit on these signals with `handle`. */
export function takeSignals(taken: readonly EndSignal[], handle: (signal: EndSignal) => void): void {
  for (const signal of taken) {
    process.off(signal, exit)
    process.on(signal, () => handle(signal))
  }
}

function exit(signal: NodeJS.Signals): void {
  process.exit(signalCodes[signal as EndSignal])
}
