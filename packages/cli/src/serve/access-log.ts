import type { AccessEntry } from '@vitrine/server'

/** `error`: only failures of the daemon. `info`: also each request. `debug`: also the requests of probes. */
export const logLevels = ['error', 'info', 'debug'] as const
export type LogLevel = (typeof logLevels)[number]

const probes: ReadonlySet<string> = new Set(['/healthz', '/v1/health', '/metrics'])

/** The function that logs a request at this level; undefined if it logs none. */
export function requestLogger(
  level: LogLevel,
  print: (line: string) => void,
): ((entry: AccessEntry) => void) | undefined {
  if (level === 'error') return undefined
  return (entry) => {
    if (level === 'debug' || !probes.has(entry.path)) print(accessLine(entry, new Date()))
  }
}

/** `2026-01-01T00:00:00.000Z GET /v1/sandboxes 200 3ms owner`; `-` for a request without a valid token. */
export function accessLine(
  { method, path, status, durationMs, caller = '-' }: AccessEntry,
  at: Date,
): string {
  return `${at.toISOString()} ${method} ${path} ${status} ${Math.round(durationMs)}ms ${caller}`
}
