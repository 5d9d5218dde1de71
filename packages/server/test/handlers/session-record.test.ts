import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, jsonBody, openDaemon, problemOf, type ResponseJson, type TestDaemon } from '../daemon.ts'

const env = { VITRINE_DEMO_PACE: '0', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
})
afterAll(() => daemon.close())

const open = (one: TestDaemon, body: object = {}) =>
  one.call('POST', '/v1/sessions', { agent: 'demo', env, ...body })
const prompt = (one: TestDaemon, id: string, content: string, turn: string) =>
  one.call('POST', `/v1/sessions/${id}/prompt?wait=true`, { prompt: content, turn })

describe('the transcript', () => {
  it('has messages and tool calls up to now or up to a seq', async () => {
    const { id } = await open(daemon)
    await prompt(daemon, id, '/say first words', 'turn_1')
    const [finished] = await allEvents(daemon, `&types=turn.finished&session=${id}`)
    await prompt(daemon, id, '/say second words', 'turn_2')
    const path = `/v1/sessions/${id}/transcript`
    const now = JSON.stringify(await daemon.call('GET', path))
    expect(now).toContain('first words')
    expect(now).toContain('second words')
    const then = JSON.stringify(await daemon.call('GET', `${path}?at=${finished.seq}`))
    expect(then).toContain('first words')
    expect(then).not.toContain('second words')
    expect(JSON.stringify(await daemon.call('GET', `${path}?at=1`))).not.toContain('words')
    const read = await daemon.fetch(path, { headers: { authorization: `Bearer ${daemon.readToken}` } })
    expect(read.status).toBe(200)
  })
})

describe('a session', () => {
  it('is forked, closed and resumed', async () => {
    const { id } = await open(daemon, { id: 'original' })
    await prompt(daemon, id, '/say the word is plum', 'turn_f')
    const fork = await daemon.call('POST', `/v1/sessions/${id}/fork`, { id: 'copy' })
    expect(fork).toMatchObject({ id: 'copy', agent: 'demo', state: 'open' })
    await prompt(daemon, 'copy', '/say in the copy', 'turn_g')
    await daemon.call('DELETE', '/v1/sessions/original')
    const again = await daemon.call('POST', '/v1/sessions/original/resume')
    expect(again).toMatchObject({ id: 'original', state: 'open' })
    await daemon.call('DELETE', '/v1/sessions/original')
    const opened = await open(daemon, { id: 'original', resume: true })
    expect(opened).toMatchObject({ id: 'original', state: 'open' })
    expect(await open(daemon, { id: 'brand-new', resume: true })).toMatchObject({ id: 'brand-new' })
    const nobody = await problemOf(await daemon.fetch('/v1/sessions/nobody/resume', { method: 'POST' }))
    expect(nobody).toMatchObject({ status: 404, code: 'session_not_found' })
  })

  it('resumes a session of an earlier daemon, and reads its turns from the journal', async () => {
    const first = await openDaemon()
    await open(first, { id: 'earlier' })
    await prompt(first, 'earlier', '/say before', 'turn_good')
    await prompt(first, 'earlier', '/error -32603 out of order', 'turn_bad').catch(() => undefined)
    await first.call('POST', '/v1/sessions/earlier/prompt', { prompt: '/stall', turn: 'turn_cut' })
    await expect.poll(async () => (await first.call('GET', '/v1/sessions/earlier')).busy).toBe(true)
    await first.listening.close()
    await first.host.close()

    const second = await openDaemon({ data: first.data })
    try {
      const turn = (id: string) => second.fetch(`/v1/sessions/earlier/turns/${id}?wait=100`)
      expect(await (await turn('turn_good')).json()).toMatchObject({
        turn: 'turn_good',
        outcome: 'ok',
        stopReason: 'end_turn',
      })
      expect(await problemOf(await turn('turn_bad'))).toMatchObject({ status: 502, code: 'agent_failed' })
      const cut: ResponseJson = await (await turn('turn_cut')).json()
      expect(cut.outcome ?? cut.code).toMatch(/interrupted|cancelled|failed|session_closed/)
      const resend = (prompted: string, id: string) =>
        second.fetch('/v1/sessions/earlier/prompt?wait=true', {
          method: 'POST',
          ...jsonBody({ prompt: prompted, turn: id }),
        })
      // The session is closed, and the record answers.
      expect(await (await resend('/say before', 'turn_good')).json()).toMatchObject({ outcome: 'ok' })
      expect(await problemOf(await resend('/error -32603 out of order', 'turn_bad'))).toMatchObject({
        code: 'agent_failed',
      })
      expect(await (await resend('/stall', 'turn_cut')).json()).toMatchObject({ outcome: cut.outcome })
      expect(await problemOf(await resend('/say other', 'turn_good'))).toMatchObject({
        status: 409,
        code: 'turn_exists',
      })
      expect(await problemOf(await resend('/say new', 'turn_new'))).toMatchObject({ code: 'session_closed' })
      expect(await problemOf(await turn('turn_never'))).toMatchObject({ status: 404, code: 'not_found' })
      expect(await second.call('POST', '/v1/sessions/earlier/resume', { env })).toMatchObject({
        state: 'open',
      })
      expect(await prompt(second, 'earlier', '/say after', 'turn_after')).toMatchObject({ outcome: 'ok' })
      const text = JSON.stringify(await second.call('GET', '/v1/sessions/earlier/transcript'))
      expect(text).toContain('before')
      expect(text).toContain('after')
    } finally {
      await second.close()
      rmSync(first.data, { recursive: true, force: true })
    }
  })
})

describe('agents', () => {
  it('are listed and shown, and an unknown one is not found', async () => {
    const { agents } = await daemon.call('GET', '/v1/agents')
    expect(agents.find(({ id }: { id: string }) => id === 'demo')).toMatchObject({ installed: true })
    expect(await daemon.call('GET', '/v1/agents/demo')).toMatchObject({ id: 'demo', name: 'demo' })
    const nobody = await problemOf(await daemon.fetch('/v1/agents/nobody'))
    expect(nobody).toMatchObject({ status: 404, code: 'agent_unknown' })
    const install = await problemOf(await daemon.fetch('/v1/agents/nobody/install', { method: 'POST' }))
    expect(install.code).toBe('agent_unknown')
  })
})
