import type { JournalingOptions } from '@vitrine/host'
import { jsonlSink, workspaceJsonlSink } from '@vitrine/journal'

/** Parts of events that a daemon can leave out of its journals. */
export const omittable = ['output', 'argv', 'paths', 'env', 'errors'] as const

export interface JournalingFlags {
  readonly retentionBytes?: number
  readonly retentionDays?: number
  readonly omit?: readonly (typeof omittable)[number][]
  readonly auditLog?: string
  readonly workspaceLog?: string
}

const dayMs = 86_400_000
const defaultBytes = 1024 ** 3

/** The options of the host for its journals, by the flags of the command. */
export function journalingOf({
  retentionBytes,
  retentionDays,
  omit = [],
  auditLog,
  workspaceLog,
}: JournalingFlags): JournalingOptions {
  const hasRetention = retentionBytes !== undefined || retentionDays !== undefined
  const retention = {
    bytes: retentionBytes ?? defaultBytes,
    ...(retentionDays !== undefined && { ageMs: retentionDays * dayMs }),
  }
  const payload = Object.fromEntries(omit.map((part) => [part === 'errors' ? 'errorText' : part, false]))
  const policy = { output: false }
  const sinks = [
    ...(auditLog === undefined ? [] : [{ name: 'audit-log', sink: jsonlSink({ path: auditLog }), policy }]),
    ...(workspaceLog === undefined
      ? []
      : [{ name: 'workspace-log', sink: workspaceJsonlSink({ path: workspaceLog }), policy }]),
  ]
  return {
    ...(hasRetention && { retention }),
    ...(omit.length > 0 && { payload }),
    ...(sinks.length > 0 && { sinks }),
  }
}
