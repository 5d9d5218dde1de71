import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { dataFoldersOf } from '../src/settings.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

it.each([
  ['/elsewhere', '/elsewhere/vitrine'],
  ['', join(homedir(), '.local/share/vitrine')],
])('the default data directory with XDG_DATA_HOME=%j is %s', (value, expected) => {
  vi.spyOn(process, 'getuid').mockReturnValue(1_000)
  vi.stubEnv('XDG_DATA_HOME', value)
  expect(dataFoldersOf(undefined).data).toBe(expected)
})
