import { describe, expect, it } from 'vitest'
import { freshOpenApi } from '../openapi.ts'
import { formComplaints, schemaComplaints } from '../openapi-contract.ts'

const fresh = JSON.parse(freshOpenApi())

/** The document with something changed in it. */
function changed(change: (document: typeof fresh) => void): typeof fresh {
  const document = structuredClone(fresh)
  change(document)
  return document
}

describe('The check of the OpenAPI document', () => {
  it('accepts the document generated from the routes', async () => {
    expect(await formComplaints(fresh)).toEqual([])
    expect(schemaComplaints(fresh)).toEqual([])
  })

  it('names a document that is not OpenAPI 3.1', async () => {
    const broken = changed((document) => {
      document.paths['/v1/health'].get.responses = 'none'
    })
    expect(await formComplaints(broken)).toEqual([expect.stringContaining('not OpenAPI 3.1')])
  })

  it('names a reference to nothing', async () => {
    const broken = changed((document) => {
      delete document.components.schemas.FileStat
    })
    expect(await formComplaints(broken)).toEqual([expect.stringContaining('#/components/schemas/FileStat')])
  })

  it.each([
    ['an empty schema', {}],
    ['a schema with only a description', { description: 'a file' }],
    ['a schema that is true', true],
    ['an object without fields', { type: 'object', properties: {} }],
  ])('names the path of %s', (_what, schema) => {
    const path = '/components/schemas/SessionSummary/properties/options/items'
    const broken = changed((document) => {
      document.components.schemas.SessionSummary.properties.options.items = schema
    })
    expect(schemaComplaints(broken)).toEqual([`${path} has no constraints: give it a schema.`])
  })

  it('names an empty schema of a parameter, of a response, of a frame and of a field that may be anything', () => {
    const broken = changed(({ paths, components }) => {
      const { get } = paths['/v1/events']
      get.parameters[0].schema = {}
      get.responses[200].content['application/json'].schema = {}
      get.responses[200].content['text/event-stream']['x-events'].gap = {}
      components.schemas.EventSummary.properties.counts.additionalProperties = {}
    })
    expect(schemaComplaints(broken)).toEqual([
      '/paths//v1/events/get/parameters/0 has no constraints: give it a schema.',
      '/paths//v1/events/get/responses/200 has no constraints: give it a schema.',
      '/paths//v1/events/get/responses/200/text/event-stream/x-events/gap has no constraints: give it a schema.',
      '/components/schemas/EventSummary/properties/counts/additionalProperties has no constraints: give it a schema.',
    ])
  })

  it('names a field that is any JSON though its shape is known', () => {
    const broken = changed((document) => {
      document.components.schemas.FileStat.properties.size = { $ref: '#/components/schemas/Json' }
    })
    expect(schemaComplaints(broken)).toEqual([
      '/components/schemas/FileStat/properties/size is typed Json although its shape is known.',
    ])
  })

  it('names a field that is listed as any JSON and has a schema now', () => {
    const broken = changed((document) => {
      document.components.schemas.TranscriptToolCall.properties.input = { type: 'string' }
    })
    expect(schemaComplaints(broken)).toEqual([
      'TranscriptToolCall/properties/input is listed as Json but has a schema: remove it from the list.',
    ])
  })
})
