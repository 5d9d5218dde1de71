import { expect, it } from 'vitest'
import * as primitives from '../../src/primitives/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(primitives).sort()).toEqual([
    'Backoff',
    'ObserverErrors',
    'Semaphore',
    'Serial',
    'TimeSlice',
    'cancelled',
    'checkSandboxId',
    'checkedByteRange',
    'decodePathText',
    'decodedManifest',
    'encodePathText',
    'encodedManifest',
    'fitsFilter',
    'hasTooManyValues',
    'idPattern',
    'isPathText',
    'isWholeNumber',
    'itemCursor',
    'itemCursorOfAll',
    'itemSeq',
    'namePattern',
    'notify',
    'notifyOne',
    'parseItemCursor',
    'parseItemCursorOfAll',
    'requirePort',
    'requireWholeNumber',
    'sessionIdPattern',
    'settledWithin',
    'shown',
    'systemErrorCode',
    'withinEventValues',
  ])
})
