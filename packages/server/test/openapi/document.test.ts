import { readFileSync } from 'node:fs'
import { pathsOf, type Route, routes } from '@vitrine/protocol/http'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/document.ts'
import { openDaemon, type ResponseJson } from '../daemon.ts'

const document: ResponseJson = openApiDocument('1.2.3')

describe('The OpenAPI document', () => {
  it('is served by a daemon, also to read-only tokens', async () => {
    await using daemon = await openDaemon()
    const response = await daemon.fetch('/openapi.json', {
      headers: { authorization: `Bearer ${daemon.readToken}` },
    })
    expect(response.headers.get('content-type')).toBe('application/json')
    const committed = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
    const sent: ResponseJson = await response.json()
    expect(sent).toEqual(committed)
    expect(sent.paths).toEqual(document.paths)
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
  })

  it('has every route at every path, with a unique id, its access and the problem response', () => {
    const ids = new Set<string>()
    for (const [name, route] of Object.entries<Route>(routes)) {
      for (const path of pathsOf(route)) {
        const operation = document.paths[path][route.method.toLowerCase()]
        expect([name, `${name}InDefault`]).toContain(operation.operationId)
        ids.add(operation.operationId)
        expect(operation['x-access']).toBe(route.access)
        expect(operation.responses.default).toEqual({ $ref: '#/components/responses/Problem' })
        const inPath = operation.parameters.filter((one: ResponseJson) => one.in === 'path')
        expect(inPath.map((one: ResponseJson) => `{${one.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
        expect(inPath.every((one: ResponseJson) => one.required)).toBe(true)
      }
    }
    const all = Object.values<Route>(routes).flatMap(pathsOf)
    expect(ids.size).toBe(all.length)
    const others = Object.keys(document.paths).filter((path) => !all.includes(path))
    expect(others).toEqual(['/openapi.json', '/healthz', '/metrics'])
  })

  it('requires a bearer token, and lists the context headers', () => {
    expect(document.security).toEqual([{ token: [] }])
    expect(document.paths['/healthz'].get.security).toEqual([])
    expect(document.components.securitySchemes.token).toEqual({ type: 'http', scheme: 'bearer' })
    expect(document.paths['/v1/exec'].parameters).toContainEqual({
      $ref: '#/components/parameters/vitrine-run',
    })
    expect(document.components.parameters['vitrine-run']).toMatchObject({ in: 'header' })
  })

  it('names schemas that several routes share, and lets responses gain fields', () => {
    const { schemas } = document.components
    const response = document.paths['/v1/files/stat'].get.responses[200]
    expect(response.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/FileStat' })
    expect(schemas.FileStat).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string' },
        kind: { type: 'string', enum: ['file', 'directory', 'symlink', 'other'] },
        size: { type: 'integer' },
        mode: { type: 'integer' },
        modifiedAt: { type: 'string' },
        target: { type: 'string' },
      },
      required: ['path', 'kind', 'size', 'mode', 'modifiedAt'],
    })
    expect(schemas.FileList.properties.entries.items).toEqual({ $ref: '#/components/schemas/FileStat' })
    const isClosed = (value: unknown) => JSON.stringify(value).includes('"additionalProperties":false')
    // Parts of requests, and messages of clients: what is not known in them is refused.
    expect(Object.keys(schemas).filter((name) => isClosed(schemas[name]))).toEqual([
      'SetupStep',
      'TerminalClientMessage',
    ])
    for (const operations of Object.values<ResponseJson>(document.paths))
      for (const { responses = {} } of Object.values<ResponseJson>(operations))
        expect(isClosed(responses)).toBe(false)
    expect(schemas.Json).toEqual({ description: expect.any(String) })
  })

  it('discriminates events by their type', () => {
    const { JournalEvent, AgentMessageEvent } = document.components.schemas
    expect(JournalEvent.discriminator.propertyName).toBe('type')
    const { mapping } = JournalEvent.discriminator
    expect(mapping['agent.message']).toBe('#/components/schemas/AgentMessageEvent')
    expect(mapping['foreign.event']).toBe('#/components/schemas/ForeignEvent')
    expect(JournalEvent.oneOf.map((one: ResponseJson) => one.$ref)).toEqual(Object.values(mapping))
    expect(AgentMessageEvent.properties.type).toEqual({ type: 'string', const: 'agent.message' })
    expect(AgentMessageEvent.properties.data.properties.message).toEqual({
      $ref: '#/components/schemas/Json',
    })
  })

  it('describes the frames of streams, the messages of terminals and each status', () => {
    const events = document.paths['/v1/events'].get.responses[200].content
    expect(Object.keys(events)).toEqual(['application/json', 'text/event-stream'])
    expect(events['text/event-stream']['x-events']).toEqual({
      message: { $ref: '#/components/schemas/JournalEvent' },
      gap: { $ref: '#/components/schemas/JournalGap' },
      heartbeat: { $ref: '#/components/schemas/StreamHeartbeat' },
      end: { $ref: '#/components/schemas/StreamEnd' },
      error: { $ref: '#/components/schemas/Problem' },
    })
    const terminal = document.paths['/v1/processes/{process}/terminal/ws'].get.responses
    expect(terminal[101]['x-messages']).toEqual({ $ref: '#/components/schemas/TerminalMessage' })
    const prompt = document.paths['/v1/sessions/{session}/prompt'].post.responses
    expect(prompt[200].content['application/json'].schema.$ref).toMatch(/PromptResult$/)
    expect(prompt[202].content['application/json'].schema.$ref).toMatch(/AcceptedTurn$/)
    const archive = document.paths['/v1/files/archive'].get.responses[200]
    expect(Object.keys(archive.content)).toEqual([
      'application/x-tar',
      'application/gzip',
      'application/zstd',
    ])
    expect(Object.keys(document.paths['/v1/files/content'].get.responses)).toEqual(['200', '206', 'default'])
  })
})
