import { expect, it } from 'vitest'
import * as archives from '../src/index.ts'

it('the index exports these values and no others', () => {
  expect(Object.keys(archives).sort()).toEqual([
    'AccessRoots',
    'ArchiveTally',
    'Handle',
    'TimeSlice',
    'applyDirectoryAttributes',
    'bufferedReader',
    'byteSourceOf',
    'cancelled',
    'checkPath',
    'checkScheme',
    'closingStream',
    'defaultLimits',
    'fileByteSource',
    'fileError',
    'isMissing',
    'kindOf',
    'maxLeftOut',
    'may',
    'merge',
    'move',
    'must',
    'mustChange',
    'pack',
    'packSource',
    'refusal',
    'removeTree',
    'replaceContents',
    'schemeOfName',
    'sourceFailed',
    'toBytes',
    'unpack',
    'walk',
  ])
})
