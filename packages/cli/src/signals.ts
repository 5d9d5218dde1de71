/** What a program that a signal ended exits with. */
export const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export type EndSignal = keyof typeof signalCodes

const signals = Object.keys(signalCodes) as EndSignal[]

/** A signal ends the program at once, unless a command takes it. */
export function exitOnSignals(): void {
  for (const signal of signals) process.on(signal, exit)
}

/** From here on these signals are a command's own affair. */
export function takeSignals(taken: readonly EndSignal[], handle: (signal: EndSignal) => void): void {
  for (const signal of taken) {
    process.off(signal, exit)
    process.on(signal, () => handle(signal))
  }
}

function exit(signal: NodeJS.Signals): void {
  process.exit(signalCodes[signal as EndSignal])
}
