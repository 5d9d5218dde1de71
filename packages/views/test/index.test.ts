import { expect, it } from 'vitest'
import * as views from '../src/index.ts'

it('exports exactly this', () => {
  expect(Object.keys(views).sort()).toEqual([
    'changedFilesAt',
    'changedFilesView',
    'eventLine',
    'eventParts',
    'listChangedFiles',
    'listProcesses',
    'listTranscript',
    'operationChildren',
    'operationRoots',
    'operationRows',
    'operationTreeView',
    'processListView',
    'rebuild',
    'tame',
    'timelineView',
    'transcriptEntry',
    'transcriptText',
    'transcriptView',
  ])
})
