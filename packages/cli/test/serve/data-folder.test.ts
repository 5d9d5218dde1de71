import { expect, it } from 'vitest'
import { dataFoldersOf } from '../../../host/src/settings.ts'
import { dataFolder } from '../../src/serve/data-folder.ts'

it.each([undefined, './data', '/var/tmp/data'])('is where the host keeps everything: %s', (given) => {
  expect(dataFolder(given)).toBe(dataFoldersOf(given).data)
})
