import { expect, it } from 'vitest'
import { dataFoldersOf } from '../../../host/src/settings.ts'
import { dataFolder } from '../../src/serve/daemon-file.ts'

it.each([undefined, './data', '/var/tmp/data'])(
  'dataFolder() is the data directory that the host would use: %s',
  (given) => {
    expect(dataFolder(given)).toBe(dataFoldersOf(given).data)
  },
)
