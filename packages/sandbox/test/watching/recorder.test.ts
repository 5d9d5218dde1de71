import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it, onTestFinished } from 'vitest'
import type { Image } from '../../src/watching/image.ts'
import { ChangeRecorder } from '../../src/watching/recorder.ts'

async function openRecorder() {
  const store = await openStore(memoryStore())
  onTestFinished(() => store.close())
  const journal = await store.journal('sbx_test', { source: 'engine' })
  const signal = new AbortController().signal
  const recorder = new ChangeRecorder({ store, journal, imagesTotalBytes: 1_000, signal })
  const events = async () =>
    (await journal.read()).events.map(({ type, data }): Record<string, unknown> => ({ type, ...data }))
  const stored = async (hash: unknown) => new Response((await store.getBlob(String(hash))).stream).text()
  return { recorder, events, stored }
}

const file = { path: 'a', kind: 'file', size: 3 } as const

it('merges consecutive changes of a file into one event with the last content', async () => {
  const { recorder, events, stored } = await openRecorder()
  const [first, second]: Image[] = [{}, {}]
  await recorder.add({ ...file, type: 'created', after: first, content: Buffer.from('one') })
  await recorder.add({ ...file, type: 'changed', before: first, after: second, content: Buffer.from('two') })
  await recorder.flush()
  const [event, ...more] = await events()
  expect(more).toEqual([])
  expect(event).toMatchObject({ type: 'file.created', path: 'a', after: second!.hash })
  expect(event).not.toHaveProperty('before')
  expect(event).not.toHaveProperty('beforeUnknown')
  expect(await stored(event!.after)).toBe('two')
})

it('stores the content of a pending change when only permissions changed since', async () => {
  const { recorder, events, stored } = await openRecorder()
  const image: Image = {}
  await recorder.add({ ...file, type: 'created', after: image, content: Buffer.from('one') })
  await recorder.add({ ...file, type: 'changed', before: image, after: image })
  await recorder.flush()
  const [event] = await events()
  expect(await stored(event!.after)).toBe('one')
})

it('does not merge changes before and after a move', async () => {
  const { recorder, events, stored } = await openRecorder()
  const [first, second]: Image[] = [{}, {}]
  await recorder.add({ ...file, type: 'created', after: first, content: Buffer.from('one') })
  await recorder.add({ ...file, path: 'b', previousPath: 'a', type: 'moved', before: first, after: first })
  await recorder.add({
    ...file,
    path: 'b',
    type: 'changed',
    before: first,
    after: second,
    content: Buffer.from('two'),
  })
  await recorder.flush()
  const all = await events()
  expect(all.map(({ type, path }) => `${type} ${String(path)}`)).toEqual([
    ...['file.created a', 'file.moved b', 'file.changed b'],
  ])
  expect(await stored(all[1]!.after)).toBe('one')
  expect(await stored(all[2]!.after)).toBe('two')
})
