/** The facts of a failed download. */
export interface FailedDownload {
  /** stdout and stderr of npm. */
  readonly output: string
  readonly outcome: string
  /** `host:port` destinations that the egress proxy refused. */
  readonly refused: readonly string[]
}

type Cause = readonly [sign: RegExp, explanation: string]

const checkRegistry = 'check the network and the URL that `npm config get registry` shows'

/** The first matching entry is used. */
const causes: readonly Cause[] = [
  [
    /\bETARGET\b|No matching version found|notarget/,
    'there is no such version of the package or of one of its dependencies; `npm view <package> versions` lists the published ones',
  ],
  [
    /\bE404\b|404 Not Found/,
    'the registry has no such package; check the URL that `npm config get registry` shows',
  ],
  [
    /\bE40[13]\b|\bENEEDAUTH\b|\b40[13] (?:Unauthorized|Forbidden)/,
    'the registry refused access; it may require a login, and npm logins are not passed into the sandbox',
  ],
  [/\bENOSPC\b|no space left/i, 'the disk of the agent cache is full; free some space'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_[A-Z_]+|ERR_TLS/,
    "the registry's certificate is not trusted; run `npm config set cafile <file>` with the certificate of the authority that signed it",
  ],
  [
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ERR_SOCKET_CLOSED)\b|socket hang up|network (?:request|connectivity)|\b50[234] /,
    `the registry cannot be reached; ${checkRegistry}`,
  ],
]

/** Says why npm failed and what to do, as the end of a sentence, with the last lines of npm's output. */
export function explainNpm({ output, outcome, refused }: FailedDownload): string {
  const lines = lastLines(output)
  const known = causes.find(([sign]) => sign.test(output))?.[1]
  const why =
    outcome === 'timeout'
      ? `it took too long; ${checkRegistry}`
      : refused.length > 0
        ? `npm tried to connect to ${[...new Set(refused)].join(', ')}, which is not in the allowed egress; allow it with \`egress\` if it belongs to the registry`
        : (known ?? 'npm failed')
  return `${why}.${lines === '' ? '' : ` Output of npm:\n${lines}`}`
}

const maxLines = 20

/** The last lines of a program's output, without logins in URLs. */
export function lastLines(output: string): string {
  return output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !/A complete log of this run/.test(line))
    .slice(-maxLines)
    .join('\n')
    .replace(/\/\/[^/\s@]+@/g, '//…@')
}
