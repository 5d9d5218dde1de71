import type { FailedConnection } from '@vitrine/protocol'

/** Names a destination that an agent could not reach, and the `egress` entry that would allow it. */
export function failedConnectionText({ host, port, error, allow }: FailedConnection): string {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const failed = `It could not connect to ${target}: ${error}.`
  if (allow === undefined) return failed
  return `${failed} To allow it, add ${JSON.stringify(allow)} to the sandbox's \`egress\`.`
}
