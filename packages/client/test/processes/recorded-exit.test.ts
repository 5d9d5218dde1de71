import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { event } from '../journal/event-server.ts'

const exited = (seq: number, process: string) => ({
  ...event(seq),
  type: 'process.exited',
  data: { process, outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' },
})

it('reads the exit of a destroyed sandbox’s process from the journal', async () => {
  const { sandbox, lines } = await newScene(({ line, query, json, problem }) => {
    if (line.startsWith('POST')) return json({ id: 'proc_1' })
    if (!line.endsWith('/events')) return problem('sandbox_destroyed', 410)
    return query.has('before')
      ? json({ events: [exited(3, 'proc_1')], cursor: 'c3', end: true })
      : json({ events: [exited(9, 'proc_other')], cursor: 'c9', end: false })
  })
  const process = await sandbox.spawn('sleep 1000')
  expect(await process.exit).toEqual({ outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' })
  expect(lines.filter((line) => line.endsWith('/events'))).toHaveLength(2)
})

it('throws sandbox_destroyed when the journal has no exit', async () => {
  const { sandbox } = await newScene(({ line, json, problem }) => {
    if (line.startsWith('POST')) return json({ id: 'proc_1' })
    return line.endsWith('/events')
      ? json({ events: [], cursor: 'c', end: true })
      : problem('sandbox_destroyed', 410)
  })
  await expect((await sandbox.spawn('x')).exit).rejects.toMatchObject({ code: 'sandbox_destroyed' })
})
