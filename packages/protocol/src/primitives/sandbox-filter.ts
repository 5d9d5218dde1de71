import type { SandboxFilter, SandboxInfo } from '../sandbox/sandbox.ts'

/** Whether a list with this filter shows a sandbox. */
export function fitsFilter(
  info: Pick<SandboxInfo, 'state' | 'provider' | 'labels'>,
  { state = info.state, provider = info.provider, labels = {} }: SandboxFilter,
): boolean {
  return (
    info.state === state &&
    info.provider === provider &&
    Object.entries(labels).every(([name, value]) => info.labels[name] === value)
  )
}
