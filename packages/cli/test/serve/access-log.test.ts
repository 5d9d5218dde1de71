import { describe, expect, it } from 'vitest'
import { accessLine, requestLogger } from '../../src/serve/access-log.ts'
import { dataFolder, serve } from '../vitrine-process.ts'

const entry = { method: 'GET', path: '/v1/health', status: 200, durationMs: 1.6, caller: 'owner' }

describe('--log-level', () => {
  it('info logs one line for each request, without its query and the token', async () => {
    const { fetch, process, token } = await serve(dataFolder(), ['--log-level', 'info'])
    await fetch(`/v1/files/exists?path=private-name&access_token=${token}`)
    await fetch('/v1/sandboxes', { headers: { authorization: 'Bearer wrong-token' } })
    await fetch('/v1/health')
    await process.end()
    const lines = process.stderr.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^\d{4}-\S+Z GET \/v1\/files\/exists 400 \d+ms owner$/),
      expect.stringMatching(/^\d{4}-\S+Z GET \/v1\/sandboxes 401 \d+ms -$/),
    ])
  })

  it.each([
    ['error', 0, 0],
    ['info', 1, 0],
    ['debug', 1, 1],
  ] as const)('%s logs %i requests and %i of probes', (level, requests, probes) => {
    const lines: string[] = []
    const log = requestLogger(level, (line) => lines.push(line))
    log?.({ ...entry, path: '/v1/sandboxes' })
    expect(lines).toHaveLength(requests)
    log?.(entry)
    expect(lines).toHaveLength(requests + probes)
  })

  it('writes time, method, path, status, duration and caller', () => {
    expect(accessLine(entry, new Date(0))).toBe('1970-01-01T00:00:00.000Z GET /v1/health 200 2ms owner')
  })
})
