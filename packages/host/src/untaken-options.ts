import { VitrineError } from '@vitrine/protocol'

/** Throws for an option that was given and that the provider does not take: it would be lost without a word. */
export function refuseUntaken(provider: string, untaken: Readonly<Record<string, unknown>>): void {
  const option = Object.keys(untaken).find((name) => untaken[name] !== undefined)
  if (option === undefined) return
  throw new VitrineError('unsupported', `${option}: the provider ${provider} does not take this option.`, {
    details: { path: option, provider },
  })
}
