import { checkEventInput, parseEvent } from '@vitrine/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  changedFilesView,
  listChangedFiles,
  listProcesses,
  operationRows,
  operationTreeView,
  processListView,
  rebuild,
} from '../src/index.ts'
import { wellFormedItems } from './well-formed-items.ts'

it('generated items are events that the protocol accepts', () => {
  fc.assert(
    fc.property(wellFormedItems, (events) => {
      for (const one of events) {
        expect(parseEvent(one)).toBe(one)
        checkEventInput(one)
      }
    }),
  )
})

it('generated items leave open in the views exactly the work without an end', () => {
  fc.assert(
    fc.property(wellFormedItems, (events) => {
      const count = (type: string) => events.filter((one) => one.type === type).length
      const open = operationRows(rebuild(operationTreeView(), events)).filter((row) => !row.operation.endedAt)
      expect(open.length).toBe(count('operation.started') - count('operation.finished'))
      const running = listProcesses(rebuild(processListView(), events)).filter(
        (one) => one.state === 'running',
      )
      expect(running.length).toBe(count('process.started') - count('process.exited'))
      const files = listChangedFiles(rebuild(changedFilesView, events))
      expect(files.every(({ change }) => change === 'created')).toBe(true)
      expect(files.length).toBe(count('file.created') - count('file.deleted'))
    }),
  )
})
