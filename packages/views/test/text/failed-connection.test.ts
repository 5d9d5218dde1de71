import { expect, it } from 'vitest'
import { failedConnectionText } from '../../src/index.ts'

it('names the destination, and the entry that would allow it', () => {
  const failed = { host: '::1', port: 443, error: 'ECONNREFUSED' }
  expect(failedConnectionText(failed)).toBe('It could not connect to [::1]:443: ECONNREFUSED.')
  const refused = { host: 'a.example', port: 80, error: 'it is not on the allow-list', allow: 'a.example:80' }
  expect(failedConnectionText(refused)).toBe(
    'It could not connect to a.example:80: it is not on the allow-list. To allow it, add "a.example:80" to the sandbox\'s `egress`.',
  )
})
