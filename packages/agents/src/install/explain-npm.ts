/** What is known of a download that failed. */
export interface FailedDownload {
  /** All that npm wrote. */
  readonly output: string
  readonly outcome: string
  /** Hosts and ports that were not in reach. */
  readonly refused: readonly string[]
}

type Cause = readonly [sign: RegExp, explanation: string]

const lookAtRegistry = 'check the network, and the address that `npm config get registry` shows'

/** The first that fits. */
const causes: readonly Cause[] = [
  [
    /\bETARGET\b|No matching version found|notarget/,
    'there is no such version, of it or of something it needs; look at what is published with `npm view <package> versions`',
  ],
  [
    /\bE404\b|404 Not Found/,
    'the registry has no such package; look at the address that `npm config get registry` shows',
  ],
  [
    /\bE40[13]\b|\bENEEDAUTH\b|\b40[13] (?:Unauthorized|Forbidden)/,
    'the registry refused it; it may want a login, and logins of npm are not passed into the sandbox',
  ],
  [/\bENOSPC\b|no space left/i, 'the disk of the cache is full; free space'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_[A-Z_]+|ERR_TLS/,
    "the registry's certificate is not trusted; set `npm config set cafile <file>` to the authority that signed it",
  ],
  [
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ERR_SOCKET_CLOSED)\b|socket hang up|network (?:request|connectivity)|\b50[234] /,
    `there is no way to the registry; ${lookAtRegistry}`,
  ],
]

/** Why it failed and what to do, as the end of a sentence, with npm's own last words. */
export function explainNpm({ output, outcome, refused }: FailedDownload): string {
  const words = lastLines(output)
  const known = causes.find(([sign]) => sign.test(output))?.[1]
  const why =
    outcome === 'timeout'
      ? `it took too long; ${lookAtRegistry}`
      : refused.length > 0
        ? `it wanted to reach ${[...new Set(refused)].join(', ')}, which is not the registry's address; allow it with \`reach\` if it belongs to the registry`
        : (known ?? 'npm failed')
  return `${why}.${words === '' ? '' : ` npm said:\n${words}`}`
}

const keptLines = 20

/** The end of what a program said, without logins. */
export function lastLines(output: string): string {
  return output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !/A complete log of this run/.test(line))
    .slice(-keptLines)
    .join('\n')
    .replace(/\/\/[^/\s@]+@/g, '//…@')
}
