import { expect, it } from 'vitest'
import { openSandbox } from '../fixtures/sandbox.ts'

it('attributes a change to a turn while only that turn runs', async () => {
  const sandbox = await openSandbox({ isolation: 'none' })
  const write = async (path: string) => {
    await sandbox.exec(`echo x > ${path}`)
    await sandbox.flushFiles()
  }
  await write('before')
  const endFirst = sandbox.beginTurn({ session: 'ses_1', turn: 'turn_1' })
  await write('in-one')
  const endSecond = sandbox.beginTurn({ session: 'ses_2', turn: 'turn_2' })
  await write('in-two')
  endFirst()
  await write('in-the-other')
  endSecond()
  await write('after')
  const { events } = await sandbox.journal.read({ types: ['file.created'] })
  const turns = events.map((event) => ('seq' in event ? [event.data.path, event.session, event.turn] : []))
  expect(turns).toEqual([
    ['before', undefined, undefined],
    ['in-one', 'ses_1', 'turn_1'],
    ['in-two', undefined, undefined],
    ['in-the-other', 'ses_2', 'turn_2'],
    ['after', undefined, undefined],
  ])
})
