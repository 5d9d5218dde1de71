import { describe, expect, it } from 'vitest'
import type { AccessEntry } from '../../src/index.ts'
import { openDaemon, readToken, token } from '../daemon.ts'

describe('onRequest', () => {
  it('gets each response with the name of the caller, without queries and tokens', async () => {
    const entries: AccessEntry[] = []
    await using daemon = await openDaemon({ onRequest: (entry) => entries.push(entry) })
    entries.length = 0
    await daemon.fetch(`/v1/files/exists?path=private-name&access_token=${token}`)
    await daemon.fetch('/v1/health', { headers: { authorization: `Bearer ${readToken}` } })
    await daemon.server.fetch(new Request('http://localhost/v1/health'))
    await daemon.server.fetch(new Request(`http://localhost/v1/sandboxes/${token}`))
    await daemon.server.fetch(new Request(`http://localhost/preview/${'a'.repeat(40)}/page?x=1`))
    expect(entries.map(({ method, path, status, caller }) => [method, path, status, caller])).toEqual([
      ['GET', '/v1/files/exists', 400, 'alice'],
      ['GET', '/v1/health', 200, 'viewer'],
      ['GET', '/v1/health', 401, undefined],
      ['GET', expect.not.stringContaining(token), 401, undefined],
      ['GET', '/preview/…/page', 401, undefined],
    ])
    for (const { durationMs } of entries) expect(durationMs).toBeGreaterThan(0)
    expect(JSON.stringify(entries)).not.toMatch(/private-name|token-/)
  })

  it('changes nothing when it throws', async () => {
    await using daemon = await openDaemon({
      onRequest: () => {
        throw new Error('broken')
      },
    })
    expect((await daemon.fetch('/v1/health')).status).toBe(200)
  })
})
