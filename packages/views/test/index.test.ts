import { expect, it } from 'vitest'
import * as views from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(views).sort()).toEqual([
    'changedFilesAt',
    'changedFilesView',
    'escapeForTerminal',
    'eventLine',
    'eventParts',
    'failedConnectionText',
    'listChangedFiles',
    'listProcesses',
    'listTranscript',
    'operationChildren',
    'operationRoots',
    'operationRows',
    'operationTreeView',
    'processListView',
    'rebuild',
    'timelineView',
    'transcriptEntry',
    'transcriptText',
    'transcriptView',
  ])
})
