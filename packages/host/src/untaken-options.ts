import { type SandboxProvider, VitrineError } from '@vitrine/protocol'
import type { HostAttachOptions, HostCreateOptions } from './host-parts.ts'

/** Throws for an option that was given and that the provider does not take: it would be lost without a word. */
export function refuseUntaken(provider: string, untaken: Readonly<Record<string, unknown>>): void {
  const option = Object.keys(untaken).find((name) => untaken[name] !== undefined)
  if (option === undefined) return
  throw new VitrineError('unsupported', `${option}: the provider ${provider} does not take this option.`, {
    details: { path: option, provider },
  })
}

/** Throws for an option of `create` that the provider has not named in `takes`. */
export function refuseUntakenBy({ name, takes = [] }: SandboxProvider, options: HostCreateOptions): void {
  const { local, onAsk, image, workspace, policy, egress, limits, env, secrets } = options
  const carriedOut = { image, workspace, policy, egress, limits, env, secrets }
  const untaken = Object.entries(carriedOut).filter(([option]) => !takes.some((one) => one === option))
  // The host knows the activity only of sandboxes on its own engine.
  const { idleStopMs, maxAgeMs } = options
  refuseUntaken(name, { local, onAsk, idleStopMs, maxAgeMs, ...Object.fromEntries(untaken) })
}

/** Throws for an option of `attach`: the provider restores its sandboxes itself. */
export function refuseUntakenByAttach(provider: string, { signal: _, ...given }: HostAttachOptions): void {
  refuseUntaken(provider, { ...given })
}
