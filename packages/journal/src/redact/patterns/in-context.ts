import { alphanumeric, pattern, type SecretPattern } from './pattern.ts'

const assign = String.raw`[\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\"']{0,4}`
const credential = '[A-Za-z0-9._~+/-]'

/** Secrets that are recognised only by the text around them. That text is not masked. */
export const contextPatterns: readonly SecretPattern[] = [
  pattern(
    'bearer',
    ['riza', 'RIZA'],
    new RegExp(`(rization${assign}(?:bearer|token)\\s{1,4})${credential}{8,}=*`, 'i'),
  ),
  pattern(
    'basic-auth',
    ['riza', 'RIZA'],
    new RegExp(`(rization${assign}basic\\s{1,4})[A-Za-z0-9+/_-]{6,}=*`, 'i'),
  ),
  // Requires a digit, so that prose such as "bearer authentication" does not match.
  pattern(
    'bearer',
    ['Bear', 'bear', 'BEAR'],
    new RegExp(`(bearer\\s{1,4})(?=[A-Za-z._~+/-]{0,256}[0-9])${credential}{16,}=*`, 'i'),
  ),
  pattern('api-key', ['x-ap', 'X-Ap', 'X-AP'], new RegExp(`(x-api-key${assign})${credential}{16,}=*`, 'i')),
  pattern(
    'aws-secret-access-key',
    ['ss_k', 'SS_K', 'ssKe'],
    new RegExp(`(ss_?key${assign})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])`, 'i'),
  ),
  pattern('azure-storage-key', ['AccountKey='], /(AccountKey=)[A-Za-z0-9+/]{86}==/),
  // Excludes placeholders such as `${PASSWORD}`, `{password}` and `***`. A password may contain an @.
  pattern(
    'url-password',
    [...alphanumeric, '+', '-', '.'].map((unit) => `${unit}://`),
    /(.:\/\/[^\s/?#@:"'<>\\[\]]{0,256}:)(?!\$?\{|\*{3}|\[redacted:)[^\s/?#"'<>\\]{1,1024}(?=@[A-Za-z0-9[_])/,
  ),
]
