import { pathsOf, type Route, routes } from '@vitrine/protocol/http'
import { manifestOptions } from '@vitrine/protocol/options'
import * as z from 'zod/mini'

type Json = Readonly<Record<string, unknown>>

/** The API as an OpenAPI 3.1 document. Made when the house is built: a daemon that starts only reads it. */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, route] of Object.entries<Route>(routes)) {
    for (const path of pathsOf(route)) {
      paths[path] ??= {}
      const short = route.scope === 'sandbox' && !path.startsWith('/v1/sandboxes/')
      paths[path][route.method.toLowerCase()] = operationOf(short ? `${name}InDefault` : name, path, route)
    }
  }
  return withSharedSchemas({
    openapi: '3.1.0',
    info: {
      title: 'Vitrine',
      version,
      description: 'Coding agents in sandboxes you can see into. Errors are application/problem+json.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problem },
      responses: {
        Problem: {
          description: 'What went wrong, and what to do about it.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  })
}

/** Schemas that hold themselves are defined once, where a reference of the document finds them. */
function withSharedSchemas(document: Json): Json {
  const shared: Record<string, unknown> = {}
  const moved = JSON.parse(JSON.stringify(document), (key, value) => {
    if (key === '$ref') return String(value).replace('#/$defs/', '#/components/schemas/')
    if (typeof value !== 'object' || value === null || !('$defs' in value)) return value
    const { $defs, ...rest } = value
    Object.assign(shared, $defs)
    return rest
  })
  Object.assign(moved.components.schemas, shared)
  return moved
}

function operationOf(operationId: string, path: string, route: Route): Json {
  const { summary, body, bodyOptional, access, status = 200 } = route
  return {
    operationId,
    summary,
    'x-access': access,
    parameters: [...pathParameters(path), ...queryParameters(route)],
    ...(body !== undefined && {
      requestBody: {
        ...(bodyOptional ? {} : { required: true }),
        content:
          body === 'bytes'
            ? { 'application/octet-stream': {} }
            : { 'application/json': { schema: schemaOf(body) } },
      },
    }),
    responses: {
      [status]: { description: descriptions[status], ...answerContent(route) },
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: it goes on.',
  204: 'Done.',
}

function answerContent({ answer, streams }: Route): Json {
  const stream = { 'text/event-stream': { schema: { type: 'string' } } }
  if (answer === 'nothing' || answer === 'socket') return {}
  if (answer === 'bytes') return { content: { 'application/octet-stream': {} } }
  if (answer === 'event-stream') return { content: stream }
  return { content: { 'application/json': { schema: schemaOf(answer) }, ...(streams && stream) } }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Route): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = schemaOf(query) as {
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

const named = z.registry<{ readonly id: string }>()
named.add(manifestOptions.step, { id: 'SetupStep' })

/** As what is written: an answer may have more fields than are known today. */
function schemaOf(schema: z.ZodMiniType): Json {
  const options = { io: 'input', unrepresentable: 'any', metadata: named } as const
  const { $schema: _, ...rest } = z.toJSONSchema(schema, options)
  return rest
}

const problem: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'retryable', 'todo'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'For people.' },
    code: { type: 'string', description: 'For programs.' },
    retryable: { enum: [true, false, 'unknown'] },
    todo: { type: 'string', description: 'What to do about it.' },
    details: { type: 'object' },
  },
}
