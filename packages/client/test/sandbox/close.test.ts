import { expect, it } from 'vitest'
import { description, newScene } from '../fixture.ts'
import { heartbeat, openStream } from '../journal/event-server.ts'

/** A daemon that counts the event streams which are open. */
async function newDaemon() {
  const open = { streams: 0 }
  const scene = await newScene((exchange) => {
    if (exchange.line.endsWith('/attach')) return exchange.json(description)
    if (exchange.line.endsWith('/running')) return exchange.json({ running: true })
    open.streams += 1
    exchange.response.once('close', () => {
      open.streams -= 1
    })
    openStream(exchange).write(heartbeat('c1'))
  })
  return { ...scene, open }
}

it('closing a handle ends its streams and calls, and those of no other handle', async () => {
  const { client, open } = await newDaemon()
  const [one, other] = [await client.attach('sbx_1'), await client.attach('sbx_1')]
  const ofOne = [one.journal.tail().next(), one.as({ actor: 'me' }).journal.tail().next()]
  const ofOther = other.journal.tail().next()
  await expect.poll(() => open.streams).toBe(3)
  await one.close()
  await one.close()
  for (const next of ofOne) await expect(next).rejects.toMatchObject({ code: 'connection_failed' })
  await expect.poll(() => open.streams).toBe(1)
  await expect(one.lifecycle.running()).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('this sandbox handle was closed'),
  })
  expect(await other.lifecycle.running()).toBe(true)
  await client.close()
  await expect(ofOther).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('this client was closed'),
  })
  await expect.poll(() => open.streams).toBe(0)
})

it('a handle is closed by `await using`, and no request destroys the sandbox', async () => {
  const { client, lines } = await newDaemon()
  {
    await using sandbox = await client.attach('sbx_1')
    expect(await sandbox.lifecycle.running()).toBe(true)
  }
  expect(lines.filter((line) => line.startsWith('DELETE'))).toEqual([])
})
