import type { SandboxFilter, SandboxInfo } from '../sandbox/sandbox.ts'

/** Whether a list with this filter shows a sandbox: without a `state`, destroyed ones are left out. */
export function fitsFilter(
  info: Pick<SandboxInfo, 'state' | 'provider' | 'labels'>,
  { state, provider = info.provider, labels = {} }: SandboxFilter,
): boolean {
  const fitsState = state === undefined ? info.state !== 'destroyed' : ['all', info.state].includes(state)
  return (
    fitsState &&
    info.provider === provider &&
    Object.entries(labels).every(([name, value]) => info.labels[name] === value)
  )
}
