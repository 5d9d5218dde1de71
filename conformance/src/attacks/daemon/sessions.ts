import type { JournalReader } from '@vitrine/protocol'
import { expect } from 'vitest'
import { leaked } from '../../masking/encodings.ts'
import { allEvents } from '../../sandbox/events.ts'
import { scale } from '../../scale.ts'
import { background } from '../../waiting/background.ts'
import { eventually } from '../../waiting/within.ts'
import type { Attack, AttackedDaemon } from '../kit.ts'
import { bearer, call, send } from './requests.ts'

const readers = 20

async function openSession(daemon: AttackedDaemon, sandbox: string, KEY: string): Promise<string> {
  const options = { agent: daemon.agent, credentials: { KEY } }
  const { id } = await call(daemon, 'POST', `/v1/sandboxes/${sandbox}/sessions`, options)
  return `/v1/sandboxes/${sandbox}/sessions/${id}`
}

/** The text that the agent sent to a session, in one piece. */
async function saidIn(journal: JournalReader, session: string): Promise<string> {
  const messages = await allEvents(journal, { types: ['agent.message'] })
  return messages
    .filter((event) => session.endsWith(`/${event.session}`) && event.type === 'agent.message')
    .map(({ data }) => /"sessionUpdate".*"text":"([^"]*)"/.exec(JSON.stringify(data))?.[1] ?? '')
    .join('')
}

/** The aim: to use a session with an agent against what others may read, or against the daemon. */
export const sessionAttacks: readonly Attack[] = [
  {
    promise: 'a secret that an agent sends in pieces to two sessions in turns is in neither of them',
    needs: ['daemon', 'agent'],
    async run(target) {
      const [daemon, { sandbox, journal }] = [await target.daemon(), await target.sandbox()]
      const secret = `Hush/${crypto.randomUUID()}+${crypto.randomUUID()}`
      const one = await openSession(daemon, sandbox.id, secret)
      const other = await openSession(daemon, sandbox.id, secret)
      await call(daemon, 'POST', `${other}/prompt`, { prompt: 'hold' })
      await eventually('the prompt on record', async () => {
        const sent = await allEvents(journal, { types: ['agent.message'] })
        return sent.some(({ data }) => JSON.stringify(data).includes('"hold"'))
      })
      await call(daemon, 'POST', `${one}/prompt?wait=true`, { prompt: 'interleave' })
      await eventually('the end of both turns', async () => {
        const ended = await allEvents(journal, { types: ['turn.finished'] })
        return ended.length === 2
      })
      expect(await allEvents(journal, { types: ['agent.started'] }), 'processes').toHaveLength(1)
      for (const session of [one, other]) {
        const text = await saidIn(journal, session)
        expect(text, 'what came in between').toContain('other')
        expect(leaked(secret, text), text).toBeUndefined()
      }
    },
  },
  {
    promise: 'long reads of a read token do not hold up other requests',
    needs: ['daemon', 'agent'],
    async run(target) {
      const [daemon, { sandbox }] = [await target.daemon(), await target.sandbox()]
      const session = await openSession(daemon, sandbox.id, 'of-no-use-here')
      await call(daemon, 'POST', `${session}/prompt?wait=true`, { prompt: `flood ${scale.floodedChunks}` })
      const headers = bearer(daemon.readToken)
      let ended = 0
      const transcripts = background(
        Promise.all(
          Array.from({ length: readers }, async () => {
            const { status, body } = await send(daemon, `${session}/transcript`, { headers })
            ended += 1
            return { status, body }
          }),
        ),
      )
      for (const round of [1, 2, 3]) {
        expect((await send(daemon, '/v1/health', { headers })).status).toBe(200)
        expect(ended, `transcripts before response ${round}`).toBeLessThan(readers)
      }
      const all = await transcripts
      expect(all.map(({ status }) => status)).toEqual(Array(readers).fill(200))
      // A very long message is cut at its end, in each of them alike.
      expect(new Set(all.map(({ body }) => body)).size).toBe(1)
      expect(all[0]?.body).toContain('word 1 word 2 ')
    },
  },
  {
    promise: 'a sandbox that was created with a secret is not used without it after a restart',
    needs: ['daemon', 'restart'],
    async run(target) {
      const daemon = await target.daemon()
      const secret = `hush-${crypto.randomUUID()}`
      const { sandbox, journal } = await target.sandbox({ secrets: { KEY: secret } })
      const base = `/v1/sandboxes/${sandbox.id}`
      await daemon.restart?.()
      const headers = { ...bearer(daemon.token), 'content-type': 'application/json' }
      const without: readonly (readonly [path: string, body: object])[] = [
        [`${base}/attach`, {}],
        [`${base}/attach`, { secrets: { OTHER: secret } }],
        [`${base}/exec`, { command: 'true' }],
      ]
      for (const [path, body] of without) {
        const refused = await send(daemon, path, { method: 'POST', headers, body: JSON.stringify(body) })
        expect({ status: refused.status, code: refused.json.code }, path).toEqual({
          status: 409,
          code: 'secret_missing',
        })
        expect(refused.body).toContain('KEY')
        expect(refused.body).not.toContain(secret)
      }
      await call(daemon, 'POST', `${base}/attach`, { secrets: { KEY: secret } })
      const { stdout } = await call(daemon, 'POST', `${base}/exec`, { command: 'printf %s "$KEY"' })
      expect(stdout).toBe(secret)
      expect(JSON.stringify(await allEvents(journal))).not.toContain(secret)
    },
  },
]
