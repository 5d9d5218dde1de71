import { newId } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { patterns } from '../../src/redact/patterns.ts'
import { createRedactor } from '../../src/redact/redactor.ts'

const { redactText } = createRedactor()

// Assembled at run time, so that no file contains text that looks like a token.
const mixed = (length: number) => 'aB3dE5gH7j'.repeat(20).slice(0, length)
const upper = (length: number) => 'ABCD2345EFGH67'.repeat(20).slice(0, length)
const hex = (length: number) => '0123456789abcdef'.repeat(20).slice(0, length)
const segment = (length: number) => Buffer.from(JSON.stringify({ alg: mixed(length) })).toString('base64url')

const tokens: [name: string, token: string][] = [
  ['github-token', `ghp_${mixed(36)}`],
  ['github-token', `ghs_${mixed(36)}`],
  ['github-token', `github_pat_${mixed(22)}_${mixed(59)}`],
  ['gitlab-token', `glpat-${mixed(20)}`],
  ['gitlab-token', `glrt-${mixed(20)}`],
  ['anthropic-key', `sk-ant-api03-${mixed(80)}-AA`],
  ['anthropic-key', `sk-ant-oat01-${mixed(80)}`],
  ['openrouter-key', `sk-or-v1-${hex(64)}`],
  ['openai-key', `sk-proj-${mixed(40)}_${mixed(40)}`],
  ['openai-key', `sk-${mixed(48)}`],
  ['aws-access-key-id', `AKIA${upper(16)}`],
  ['aws-access-key-id', `ASIA${upper(16)}`],
  ['slack-token', `xoxb-123456789012-123456789012-${mixed(24)}`],
  ['slack-token', `xapp-1-A012345-${mixed(24)}`],
  ['google-api-key', `AIza${mixed(35)}`],
  ['google-oauth-token', `ya29.${mixed(60)}`],
  ['google-oauth-secret', `GOCSPX-${mixed(28)}`],
  ['npm-token', `npm_${mixed(36)}`],
  ['pypi-token', `pypi-${mixed(100)}`],
  ['docker-token', `dckr_pat_${mixed(27)}`],
  ['stripe-key', `sk_live_${mixed(24)}`],
  ['stripe-key', `rk_test_${mixed(24)}`],
  ['webhook-secret', `whsec_${mixed(32)}`],
  ['huggingface-token', `hf_${mixed(34)}`],
  ['sendgrid-key', `SG.${mixed(22)}.${mixed(43)}`],
  ['groq-key', `gsk_${mixed(52)}`],
  ['xai-key', `xai-${mixed(80)}`],
  ['replicate-token', `r8_${mixed(37)}`],
  ['perplexity-key', `pplx-${mixed(48)}`],
  ['digitalocean-token', `dop_v1_${hex(64)}`],
  ['databricks-token', `dapi${hex(32)}`],
  ['shopify-token', `shpat_${hex(32)}`],
  ['linear-key', `lin_api_${mixed(40)}`],
  ['notion-token', `ntn_${mixed(46)}`],
  ['supabase-token', `sbp_${hex(40)}`],
  ['vault-token', `hvs.${mixed(90)}`],
  ['grafana-token', `glsa_${mixed(32)}_${hex(8)}`],
  ['atlassian-token', `ATATT3${mixed(180)}`],
  ['e2b-key', `e2b_${hex(40)}`],
  ['daytona-key', `dtn_${hex(64)}`],
  ['age-key', `AGE-SECRET-KEY-1${upper(58)}`],
  ['jwt', `${segment(20)}.${segment(40)}.${mixed(43)}`],
  ['jwt', `${segment(20)}..${mixed(16)}.${mixed(40)}.${mixed(22)}`],
]

const parts: [name: string, before: string, secret: string, after: string][] = [
  ['bearer', 'Authorization: Bearer ', mixed(20), ''],
  ['bearer', 'authorization: token ', mixed(20), '\r\nAccept: */*'],
  ['bearer', '{"Authorization":"Bearer ', `${mixed(20)}==`, '"}'],
  ['bearer', '{\\"authorization\\":\\"bearer ', mixed(20), '\\"}'],
  ['bearer', 'curl -H "Proxy-Authorization: Bearer ', 'opaqueword', '" x'],
  ['bearer', 'sent bearer ', 'abc.def-1234567890', ' to the server'],
  ['basic-auth', 'Authorization: Basic ', 'dXNlcjpwYXNz', ''],
  ['api-key', 'x-api-key: ', mixed(32), ''],
  ['aws-secret-access-key', 'AWS_SECRET_ACCESS_KEY=', mixed(40), '\n'],
  ['aws-secret-access-key', '"SecretAccessKey": "', mixed(40), '"'],
  ['azure-storage-key', 'AccountName=a;AccountKey=', `${mixed(86)}==`, ';EndpointSuffix=b'],
  ['slack-webhook', 'https://hooks.slack.com/services/', `T0123/B0123/${mixed(24)}`, ''],
  ['url-password', 'postgres://app:', 's3cret', '@db.internal:5432/app'],
  ['url-password', 'redis://:', 'p', '@localhost'],
  ['url-password', 'https://user:', 'p@ss:word', '@example.com/x?y=a@b'],
  ['url-password', 'git clone https://x-access-token:', 'abcdef', '@github.com/a/b.git'],
]

const key = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', 'Tb8='].join('\n')
const begin = (kind: string) => `-----BEGIN ${kind}-----`
const end = (kind: string) => `-----END ${kind}-----`
const block = (kind: string) => `${begin(kind)}\n${key}\n${end(kind)}`

describe('the patterns', () => {
  it.each(tokens)('mask a %s at any position', (name, token) => {
    const marker = `[redacted:${name}]`
    expect(redactText(token)).toBe(marker)
    expect(redactText(`TOKEN=${token}\n`)).toBe(`TOKEN=${marker}\n`)
    expect(redactText(`{"token":"${token}"}`)).toBe(`{"token":"${marker}"}`)
    expect(redactText(`line one\\n${token} and more`)).toBe(`line one\\n${marker} and more`)
    expect(redactText(`${token}, ${token}`)).toBe(`${marker}, ${marker}`)
  })

  it.each(parts)('mask a %s and keep the text around it: %s', (name, before, secret, after) => {
    expect(redactText(before + secret + after)).toBe(`${before}[redacted:${name}]${after}`)
  })

  it.each([
    'PRIVATE KEY',
    'RSA PRIVATE KEY',
    'ENCRYPTED PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ])('mask a %s block', (kind) => {
    expect(redactText(`key:\n${block(kind)}\nend`)).toBe('key:\n[redacted:private-key]\nend')
    expect(redactText(JSON.stringify({ key: block(kind) }))).toBe('{"key":"[redacted:private-key]"}')
  })

  it('mask the lines of a private key without a footer', () => {
    const cut = `${begin('PRIVATE KEY')}\n${key.slice(0, 60)}`
    expect(redactText(`$ head -3 key\n${cut}\n$ `)).toBe('$ head -3 key\n[redacted:private-key]\n$ ')
    expect(redactText(cut + block('EC PRIVATE KEY'))).toBe('[redacted:private-key][redacted:private-key]')
  })

  it.each([
    ['words', 'The bearer of bad news asked for bearer authentication with a risk-averse task-runner.'],
    ['a hash', `sha256:${hex(64)}`],
    ['a git commit', `commit ${hex(40)}`],
    ['a uuid', '123e4567-e89b-42d3-a456-426614174000'],
    ['an id of ours', `${newId('sandbox')} ${newId('process')} ${newId('session')}`],
    ['base64', mixed(200)],
    ['a URL with a port', 'http://localhost:3000/a@b and https://[::1]:8080/@scope/name'],
    ['a URL with a user', 'ssh://git@github.com/a/b'],
    ['two addresses', 'see http://a:80, or mail me@example.com'],
    [
      'a placeholder',
      ['postgres://user:$', '{PASSWORD}@db or https://u:***@h or x://u:<password>@h'].join(''),
    ],
    ['a template', 'Authorization: Bearer $TOKEN or Bearer <token> or Bearer {token}'],
    ['a variable of npm', 'npm_config_user_agent=npm npm_lifecycle_script=x'],
    ['a short token', `ghp_${mixed(20)} sk-ant-abc xoxb-1 AIza${mixed(10)} glpat-x hf_hub npm_x`],
    ['a long one', `AKIA${upper(30)} AIza${mixed(60)}`],
    ['a class of CSS', 'sk-fading-circle sk-cube-grid-with-a-very-long-name-that-goes-on'],
    ['a certificate', block('CERTIFICATE')],
    ['a public key', block('PUBLIC KEY')],
    ['the header of a key', `the line ${begin('PRIVATE KEY')} starts a key`],
    ['half a token of the web', `${segment(20)}.${mixed(20)}`],
    ['what is masked already', 'https://user:[redacted:DB]@host Authorization: Bearer [redacted:API]'],
  ])('do not mask %s', (_, text) => {
    expect(redactText(text)).toBe(text)
  })

  it('change nothing when applied a second time', () => {
    for (const [, token] of tokens) expect(redactText(redactText(token))).toBe(redactText(token))
    for (const [, ...words] of parts) {
      const masked = redactText(words.join(''))
      expect(redactText(masked)).toBe(masked)
    }
  })

  it('can be turned off', () => {
    const [, token] = tokens[0] ?? []
    expect(createRedactor({ patterns: false }).redactText(`${token}`)).toBe(token)
  })

  it('take linear time on a megabyte of adversarial input', () => {
    const size = 1_000_000
    const starts = patterns.flatMap(({ grams }) => grams.slice(0, 1))
    const beginnings = [...tokens.map(([, token]) => token), ...parts.map(([, ...words]) => words.join(''))]
    const repeated = [
      ...new Set(starts),
      ...beginnings.flatMap((token) => [token.slice(0, -1)]),
      'a://a:',
      'a://a@',
      'a://a:a@',
      'Bearer ',
      'Authorization: ',
      `${segment(14)}.`,
      begin('PRIVATE KEY'),
      `${begin('PRIVATE KEY')}\n${mixed(64)}\n`,
      '-----',
    ]
    for (const text of repeated) redactText(text.repeat(size / text.length))
    for (const text of new Set(starts)) {
      for (const filler of ['a', 'a ', 'A', '0', '-', '.', ':', '@', '=', '\n']) {
        redactText(text + filler.repeat(100_000))
      }
    }
    redactText(`${begin('PRIVATE KEY')}${`\n${mixed(64)}`.repeat(size / 65)}`)
    for (const filler of ['a', ':', '@', 'a:', 'a.', ' ']) redactText(`a://${filler.repeat(size)}`)
    redactText(`${segment(14)}${'a'.repeat(size)}`)
  })
})
