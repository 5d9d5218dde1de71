import { afterEach, expect, it, vi } from 'vitest'
import { dataFoldersOf } from '../../../host/src/settings.ts'
import { dataFolder } from '../../src/serve/daemon-file.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

it.each([undefined, './data', '/var/tmp/data'])(
  'dataFolder() is the data directory that the host would use: %s',
  (given) => {
    expect(dataFolder(given)).toBe(dataFoldersOf(given).data)
  },
)

it.each(['', '/elsewhere'])('dataFolder() follows XDG_DATA_HOME=%j as the host does', (value) => {
  vi.spyOn(process, 'getuid').mockReturnValue(1_000)
  vi.stubEnv('XDG_DATA_HOME', value)
  expect(dataFolder(undefined)).toBe(dataFoldersOf(undefined).data)
})
