import type { Capabilities } from '@vitrine/protocol'
import type { Measured } from './measure.ts'

export interface CapabilityRow {
  readonly capability: keyof Capabilities
  readonly claimed: string
  readonly measured: string
  readonly verdict: 'true' | 'more than claimed' | 'NOT MEASURED' | 'FALSE'
}

/** Levels from the weakest to the strongest: each level includes those before it. */
const order: { readonly [K in keyof Capabilities]?: readonly Capabilities[K][] } = {
  isolation: ['none', 'namespaces', 'container', 'machine'],
  killTree: ['best-effort', 'complete'],
  watching: ['none', 'poll', 'native'],
  pause: ['none', 'signals', 'freezer'],
}

/** Compares each claim with its measurement. A claim holds if the measurement is equal or better. */
export function compareCapabilities(claimed: Capabilities, measured: Measured): CapabilityRow[] {
  // The cast is safe: these are the keys of `Capabilities`.
  const names = Object.keys(claimed) as (keyof Capabilities)[]
  return names.map((capability) => ({
    capability,
    claimed: formatted(claimed[capability]),
    measured: measured[capability] === undefined ? '–' : formatted(measured[capability]),
    verdict: verdictOn(capability, claimed, measured),
  }))
}

function verdictOn(
  name: keyof Capabilities,
  claimed: Capabilities,
  measured: Measured,
): CapabilityRow['verdict'] {
  const [claim, fact] = [claimed[name], measured[name]]
  if (fact === undefined) return 'NOT MEASURED'
  if (Array.isArray(claim) && Array.isArray(fact))
    return claim.every((one) => fact.includes(one)) ? 'true' : 'FALSE'
  // From inside, a container cannot be distinguished from namespaces.
  if (claim === fact || (claim === 'container' && fact === 'namespaces')) return 'true'
  if (typeof claim === 'boolean') return fact === true ? 'more than claimed' : 'FALSE'
  const ranks: readonly unknown[] = order[name] ?? []
  return ranks.indexOf(fact) > ranks.indexOf(claim) ? 'more than claimed' : 'FALSE'
}

function formatted(value: Capabilities[keyof Capabilities]): string {
  return Array.isArray(value) ? value.join(', ') || '(none)' : String(value)
}

/** Formats the rows as a text table. */
export function capabilityTable(title: string, rows: readonly CapabilityRow[]): string {
  const cells = [
    ['capability', 'claimed', 'measured', ''],
    ...rows.map(({ capability, claimed, measured, verdict }) => [capability, claimed, measured, verdict]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [`capabilities: ${title}`, ...lines].join('\n')
}
