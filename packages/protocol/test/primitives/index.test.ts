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
    'encodePathText',
    'fitsFilter',
    'hasTooManyValues',
    'idPattern',
    'isPathText',
    'isWholeNumber',
    'itemCursor',
    'itemSeq',
    'namePattern',
    'notify',
    'notifyOne',
    'parseItemCursor',
    'requirePort',
    'requireWholeNumber',
    'sessionIdPattern',
    'settledWithin',
    'shown',
    'systemErrorCode',
    'toWebStream',
    'withinEventValues',
  ])
})
