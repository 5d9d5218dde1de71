import { pathsOf, problem, type Route, routes } from '@vitrine/protocol/http'
import type * as z from 'zod/mini'
import { contextParameters } from './context-parameters.ts'
import { type JsonSchema, Schemas } from './schemas.ts'
import { textRoutes } from './text-routes.ts'

type Json = Readonly<Record<string, unknown>>

/** Generates the OpenAPI 3.1 document at build time; a daemon only reads the file. */
export function openApiDocument(version: string): Json {
  const all = Object.entries<Route>(routes)
  const schemas = new Schemas(all.flatMap(([, route]) => schemasOf(route)))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of all) {
    for (const path of pathsOf(route)) {
      paths[path] ??= { parameters: contextParameters.map(({ name }) => parameterRef(name)) }
      const isShort = route.scope === 'sandbox' && !path.startsWith('/v1/sandboxes/')
      const id = isShort ? `${name}InDefault` : name
      paths[path][route.method.toLowerCase()] = operationOf(id, path, route, schemas)
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vitrine',
      version,
      description: 'Coding agents in sandboxes you can see into. Errors are application/problem+json.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ token: [] }],
    paths: { ...paths, ...textRoutes },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: schemas.components(),
      parameters: Object.fromEntries(contextParameters.map((parameter) => [parameter.name, parameter])),
      responses: {
        Problem: {
          description: 'The error, and a hint how to fix it.',
          content: { 'application/problem+json': { schema: schemas.of(problem()) } },
        },
      },
    },
  }
}

function parameterRef(name: string): Json {
  return { $ref: `#/components/parameters/${name}` }
}

/** Every schema of a route. Reading a lazy schema creates it. */
function schemasOf(route: Route): z.ZodMiniType[] {
  const { query, response, responseByStatus, frames, socketMessage, clientMessage } = route
  const body = bodyOf(route)
  const several = [...Object.values(responseByStatus ?? {}), ...Object.values(frames ?? {})]
  return [query, body, response, socketMessage, clientMessage, ...several].filter(
    (one) => one !== undefined && typeof one !== 'string',
  )
}

function bodyOf({ body, bodyInDocument }: Route): Route['body'] {
  return bodyInDocument ?? body
}

function operationOf(operationId: string, path: string, route: Route, schemas: Schemas): Json {
  const { summary, bodyOptional, access } = route
  const body = bodyOf(route)
  return {
    operationId,
    summary,
    'x-access': access,
    parameters: [...pathParameters(path), ...queryParameters(route, schemas)],
    ...(body !== undefined && {
      requestBody: {
        ...(bodyOptional ? {} : { required: true }),
        content:
          body === 'bytes'
            ? { 'application/octet-stream': { schema: bytes } }
            : { 'application/json': { schema: schemas.of(body) } },
      },
    }),
    responses: { ...responsesOf(route, schemas), default: { $ref: '#/components/responses/Problem' } },
  }
}

const descriptions: Readonly<Record<number, string>> = {
  101: 'A WebSocket.',
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: the work continues.',
  204: 'Done.',
  206: 'The requested range.',
}

const bytes: JsonSchema = { type: 'string', format: 'binary' }

function responsesOf(route: Route, schemas: Schemas): Json {
  const { response, responseByStatus, status = 200, socketMessage, clientMessage, mediaTypes, ranges } = route
  const entry = (code: number, rest: Json = {}) => ({
    [code]: { description: descriptions[code], ...rest },
  })
  if (response === 'nothing') return entry(status)
  if (response === 'socket')
    return entry(101, {
      ...(socketMessage && { 'x-messages': schemas.of(socketMessage) }),
      ...(clientMessage && { 'x-client-messages': schemas.of(clientMessage) }),
    })
  if (response === 'event-stream') return entry(status, { content: streamOf(route, schemas) })
  if (response === 'bytes') {
    const types = mediaTypes ?? ['application/octet-stream']
    const content = Object.fromEntries(types.map((type) => [type, { schema: bytes }]))
    return { ...entry(status, { content }), ...(ranges && entry(206, { content })) }
  }
  const byStatus = Object.entries(responseByStatus ?? { [status]: response })
  return Object.assign(
    {},
    ...byStatus.map(([code, schema]) =>
      entry(Number(code), {
        content: { 'application/json': { schema: schemas.of(schema) }, ...streamOf(route, schemas) },
      }),
    ),
  )
}

/** OpenAPI 3.1 cannot describe the frames of a stream: `x-events` maps each event name to its schema. */
function streamOf({ frames }: Route, schemas: Schemas): Json {
  if (frames === undefined) return {}
  const events = Object.entries(frames).map(([name, schema]) => [name, schemas.of(schema)])
  return { 'text/event-stream': { schema: { type: 'string' }, 'x-events': Object.fromEntries(events) } }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Route, schemas: Schemas): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = schemas.of(query) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    schema,
  }))
}
