import { expect, it } from 'vitest'
import { type Page, type ReadOptions, readPages } from '../src/index.ts'

/** A reader of this many empty pages, and the options of its calls. */
function readerOf(pageCount: number) {
  const calls: ReadOptions[] = []
  const read = async (options: ReadOptions = {}): Promise<Page> => {
    calls.push(options)
    return { events: [], cursor: `c${calls.length}`, end: calls.length === pageCount }
  }
  return { calls, read }
}

async function cursorsOf(pages: AsyncIterable<Page>): Promise<string[]> {
  const cursors: string[] = []
  for await (const { cursor } of pages) cursors.push(cursor)
  return cursors
}

it('readPages() continues after the cursor of each page until the end', async () => {
  const reader = readerOf(3)
  expect(await cursorsOf(readPages(reader, { types: ['file.*'], after: 'c0' }))).toEqual(['c1', 'c2', 'c3'])
  expect(reader.calls).toEqual(['c0', 'c1', 'c2'].map((after) => ({ types: ['file.*'], after })))
})

it('readPages() reads without options', async () => {
  const reader = readerOf(2)
  expect(await cursorsOf(readPages(reader))).toEqual(['c1', 'c2'])
  expect(reader.calls).toEqual([{}, { after: 'c1' }])
})

it('readPages() in descending order continues before the cursor and keeps the lower bound', async () => {
  const reader = readerOf(2)
  await cursorsOf(readPages(reader, { order: 'desc', after: 'low' }))
  expect(reader.calls).toEqual([
    { order: 'desc', after: 'low' },
    { order: 'desc', after: 'low', before: 'c1' },
  ])
})

it('readPages() applies `at` to the first page only', async () => {
  const reader = readerOf(2)
  await cursorsOf(readPages(reader, { at: 7, limit: 5 }))
  expect(reader.calls).toEqual([
    { at: 7, limit: 5 },
    { limit: 5, after: 'c1' },
  ])
})

it('readPages() reads no page that is not asked for', async () => {
  const reader = readerOf(3)
  for await (const { cursor } of readPages(reader)) if (cursor === 'c2') break
  expect(reader.calls).toHaveLength(2)
})

it('readPages() throws the error of the reader', async () => {
  const failing = { read: () => Promise.reject(new Error('closed')) }
  await expect(cursorsOf(readPages(failing))).rejects.toThrow('closed')
})
