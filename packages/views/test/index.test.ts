import { expect, it } from 'vitest'
import * as views from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(views).sort()).toEqual([
    'changedFilesAt',
    'changedFilesView',
    'diffText',
    'escapeForTerminal',
    'eventLine',
    'eventParts',
    'failedConnectionText',
    'listChangedFiles',
    'listProcesses',
    'listSandboxes',
    'listSessions',
    'listTranscript',
    'operationChildren',
    'operationRoots',
    'operationRows',
    'operationTreeView',
    'parsePieceCursor',
    'processListView',
    'rebuild',
    'sandboxEventTypes',
    'sandboxesView',
    'sessionEventTypes',
    'sessionsView',
    'timelineView',
    'transcriptEntry',
    'transcriptText',
    'transcriptView',
    'turnPieces',
    'unifiedDiff',
  ])
})
