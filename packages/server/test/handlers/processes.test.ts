import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDaemon, problemOf, type TestDaemon } from '../daemon.ts'
import { framesOf, framesUntil } from '../frames.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const spawn = (body: object) => daemon.call('POST', '/v1/processes', body)
const ended = (id: string) => daemon.call('GET', `/v1/processes/${id}?wait=20000`)
const logs = async (id: string, query = '') => {
  const { entries } = await daemon.call('GET', `/v1/processes/${id}/logs${query}`)
  return textOf(entries)
}
const textOf = (entries: { data: string }[]) =>
  entries.map(({ data }) => Buffer.from(data, 'base64').toString()).join('')

describe('a process', () => {
  it('runs a program with arguments, without a shell', async () => {
    const info = await spawn({ command: 'echo', args: ['$HOME', '; exit 5'] })
    expect(info).toMatchObject({ command: 'echo', args: ['$HOME', '; exit 5'], tty: false })
    expect(await ended(info.id)).toMatchObject({ state: 'exited', status: 'exited', exitCode: 0 })
    expect(await logs(info.id)).toBe('$HOME ; exit 5\n')
    const { id } = await spawn({ command: ['echo', 'a'], args: ['b'] })
    await ended(id)
    expect(await logs(id)).toBe('a b\n')
    const response = await daemon.fetch('/v1/processes', {
      method: 'POST',
      body: '{"command":"echo hi; id"}',
      headers: { 'content-type': 'application/json' },
    })
    expect((await problemOf(response)).code).toMatch(/^command_not_/)
  })

  it('runs a string in a shell on request', async () => {
    for (const shell of [true, 'sh', ['sh', '-c']]) {
      const { id } = await spawn({ command: 'echo $((40 + 2)) >&2; exit 6', shell })
      expect(await ended(id)).toMatchObject({ exitCode: 6, exit: { outcome: 'failed' } })
      expect(await logs(id, '?stream=stderr')).toBe('42\n')
      expect(await logs(id, '?stream=stdout')).toBe('')
    }
  })

  it('has a terminal on request', async () => {
    const { id, tty, interactive } = await spawn({ command: 'stty', args: ['size'], tty: true })
    expect({ tty, interactive }).toEqual({ tty: true, interactive: true })
    await ended(id)
    expect(await logs(id)).toBe('24 80\r\n')
    expect(await logs(id, '?stream=pty')).toBe('24 80\r\n')
    const sized = await spawn({
      command: 'stty size; read x; stty size',
      shell: true,
      tty: { cols: 100, rows: 30 },
    })
    const size = { cols: 111, rows: 33 }
    await expect.poll(() => logs(sized.id)).toContain('30 100')
    expect(await daemon.call('POST', `/v1/processes/${sized.id}/terminal/resize`, size)).toEqual(size)
    await daemon.call('POST', `/v1/processes/${sized.id}/input`, { data: '\n' })
    await ended(sized.id)
    expect(await logs(sized.id)).toContain('33 111')
  })

  it('accepts input as text and as base64, and its end', async () => {
    const { id } = await spawn({ command: 'cat' })
    const input = (body: object) => daemon.call('POST', `/v1/processes/${id}/input`, body)
    expect(await input({ data: 'ünï ' })).toEqual({ bytesWritten: 6 })
    expect(await input({ data: btoa('code'), encoding: 'base64' })).toEqual({ bytesWritten: 4 })
    expect(await input({ data: '', end: true })).toEqual({ bytesWritten: 0 })
    expect(await ended(id)).toMatchObject({ exitCode: 0 })
    expect(await logs(id)).toBe('ünï code')
    const late = await daemon.fetch(`/v1/processes/${id}/input`, {
      method: 'POST',
      body: '{"data":"x"}',
      headers: { 'content-type': 'application/json' },
    })
    expect((await problemOf(late)).status).toBe(409)
  })

  it('is followed from its first output to its last, and then the stream ends', async () => {
    const { id } = await spawn({ command: 'for i in 1 2 3; do echo $i; read x; done', shell: true })
    const response = await daemon.fetch(`/v1/processes/${id}/logs?follow=true`)
    let text = ''
    const frames = []
    for await (const frame of framesOf(response)) {
      frames.push(frame)
      if (frame.event !== 'message') continue
      expect(frame).not.toHaveProperty('id')
      text += textOf([frame.data])
      await daemon.call('POST', `/v1/processes/${id}/input`, { data: '\n' }).catch(() => undefined)
    }
    expect(text).toBe('1\n2\n3\n')
    expect(frames.at(-1)).toEqual({ event: 'end', data: { reason: 'complete' } })
    expect(await logs(id, '?tail=1')).toContain('3\n')
  })

  it('is viewed from its latest output on', async () => {
    const { id } = await spawn({ command: 'echo before; read x; echo after', shell: true })
    await expect.poll(() => logs(id)).toBe('before\n')
    const response = await daemon.fetch(`/v1/processes/${id}/view`)
    await daemon.call('POST', `/v1/processes/${id}/input`, { data: '\n' })
    const frames = await framesUntil(response, ({ event }) => event === 'end')
    const shown = frames.filter(({ event }) => event === 'message').map(({ data }) => data)
    expect(textOf(shown)).toBe('before\nafter\n')
    expect(frames.at(-1)!.data).toEqual({ reason: 'complete' })
  })

  it.each(['logs?follow=true', 'view'])(
    'a process that still runs when the daemon shuts down does not look as if it had ended: %s',
    async (path) => {
      const closing = await openDaemon()
      const { id } = await closing.call('POST', '/v1/processes', {
        command: 'echo up; sleep 60',
        shell: true,
      })
      const frames = framesOf(await closing.fetch(`/v1/processes/${id}/${path}`))
      while ((await frames.next()).value?.event !== 'message');
      closing.server.close()
      let last = (await frames.next()).value
      for (let next = await frames.next(); !next.done; next = await frames.next()) last = next.value
      expect(last).toMatchObject({ event: 'end', data: { reason: 'closing' } })
      await closing.close()
    },
  )

  it('is signalled, stopped, killed and removed', async () => {
    const trap = 'trap "exit 9" USR1; echo up; while :; do sleep 0.05; done'
    const one = await spawn({ command: trap, shell: true })
    await expect.poll(() => logs(one.id)).toBe('up\n')
    const still = await daemon.fetch(`/v1/processes/${one.id}`, { method: 'DELETE' })
    expect(await problemOf(still)).toMatchObject({ status: 409, code: 'process_running' })
    await daemon.call('POST', `/v1/processes/${one.id}/signal`, { signal: 'SIGUSR1' })
    expect(await ended(one.id)).toMatchObject({ exitCode: 9 })
    await daemon.call('DELETE', `/v1/processes/${one.id}`)
    expect((await problemOf(await daemon.fetch(`/v1/processes/${one.id}`))).status).toBe(404)

    const two = await spawn({ command: 'sleep', args: ['60'] })
    expect(await daemon.call('POST', `/v1/processes/${two.id}/stop?waitMs=5000`)).toMatchObject({
      state: 'exited',
      exit: { signal: 'SIGTERM' },
    })
    const stubborn = await spawn({
      command: 'trap "" TERM; echo up; while :; do sleep 0.05; done',
      shell: true,
    })
    await expect.poll(() => logs(stubborn.id)).toBe('up\n')
    expect(await daemon.call('POST', `/v1/processes/${stubborn.id}/stop?waitMs=100`)).toMatchObject({
      exit: { signal: 'SIGKILL' },
    })
    const three = await spawn({ command: 'sleep', args: ['60'] })
    expect(await daemon.call('POST', `/v1/processes/${three.id}/kill`)).toMatchObject({
      state: 'exited',
      exit: { exitCode: null, signal: 'SIGKILL' },
    })
  })

  it('is listed by owner', async () => {
    const { id } = await spawn({ command: 'true', owner: 'me' })
    const { processes } = await daemon.call('GET', '/v1/processes?owner=me')
    expect(processes.map((one: { id: string }) => one.id)).toEqual([id])
    const all = await daemon.call('GET', `/v1/sandboxes/${daemon.sandbox}/processes`)
    expect(all.processes.length).toBeGreaterThan(1)
  })

  it('a process that is unknown gives not_found on every route', async () => {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '?wait=10', undefined],
      ['DELETE', '', undefined],
      ['GET', '/view', undefined],
      ['GET', '/logs', undefined],
      ['POST', '/input', { data: 'x' }],
      ['POST', '/terminal/resize', { cols: 1, rows: 1 }],
      ['POST', '/signal', { signal: 'SIGTERM' }],
      ['POST', '/stop', undefined],
      ['POST', '/kill', undefined],
    ] as const) {
      const response = await daemon.fetch(`/v1/processes/nobody${path}`, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      expect(await problemOf(response), `${method} ${path}`).toMatchObject({ status: 404, code: 'not_found' })
    }
  })

  it('refuses a resize without a terminal, and an unknown signal', async () => {
    const { id } = await spawn({ command: 'cat' })
    const send = async (path: string, body: object) =>
      (
        await problemOf(
          await daemon.fetch(`/v1/processes/${id}/${path}`, {
            method: 'POST',
            body: JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
        )
      ).code
    expect(await send('terminal/resize', { cols: 80, rows: 24 })).toBe('terminal_required')
    expect(await send('terminal/resize', { cols: 0, rows: 24 })).toBe('argument_invalid')
    expect(await send('signal', { signal: 'SIGNOTHING' })).toBe('argument_invalid')
    await daemon.call('POST', `/v1/processes/${id}/kill`)
  })
})
