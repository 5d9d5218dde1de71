import { expect, test } from 'vitest'
import { findSecrets, isSecretName } from '../../src/credentials/find-secrets.ts'

test.each([
  ['accessToken', true],
  ['refresh_token', true],
  ['id_token', true],
  ['tokens', true],
  ['OPENAI_API_KEY', true],
  ['apiKey', true],
  ['apikey', true],
  ['key', true],
  ['client_secret', true],
  ['clientSecret', true],
  ['password', true],
  ['refresh', true],
  ['access', true],
  ['oauthtoken', true],
  ['monkey', false],
  ['keyboard', false],
  ['type', false],
  ['expires', false],
  ['accessibility', false],
  ['/home/me/key', false],
  ['https://mcp.example/token', false],
])('decides whether %s is the name of a secret: %s', (name, expected) => {
  expect(isSecretName(name)).toBe(expected)
})

test.each([
  [
    'Claude Code',
    '{"claudeAiOauth":{"accessToken":"sk-ant-oat-1","refreshToken":"sk-ant-ort-1","expiresAt":1,"scopes":["user:inference"],"subscriptionType":"unlimited"}}',
    ['sk-ant-oat-1', 'sk-ant-ort-1'],
  ],
  [
    'Codex',
    '{"OPENAI_API_KEY":null,"tokens":{"id_token":"eyJ.id.tok","access_token":"eyJ.ac.tok","account_id":"acc-12345"},"last_refresh":"2026-11-16T00:00:00Z"}',
    ['eyJ.id.tok', 'eyJ.ac.tok', 'acc-12345', '2026-11-16T00:00:00Z'],
  ],
  [
    'OpenCode',
    '{"anthropic":{"type":"oauth","refresh":"refresh-1","access":"access-11","expires":1},"groq":{"type":"api","key":"gsk_12345678"}}',
    ['refresh-1', 'access-11', 'gsk_12345678'],
  ],
  ['lists', '{"keys":["first-key","second-key"]}', ['first-key', 'second-key']],
  ['short ones', '{"key":"short"}', []],
  ['a file of variables', 'export GEMINI_API_KEY="AIza-12345"\nREGION=europe-west\n', ['AIza-12345']],
  ['TOML', 'api_key = "sk-12345678"\nmodel = "gpt-5.5-large"\n', ['sk-12345678']],
  ['something else', 'not a login file at all', []],
])('finds exactly the secrets of %s', (_, content, secrets) => {
  expect(findSecrets(content)).toEqual(secrets)
})
