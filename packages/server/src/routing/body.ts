import { VitrineError } from '@vitrine/protocol'
import type { Route } from '@vitrine/protocol/http'
import { parseAs, strict } from '@vitrine/protocol/options'
import { shown } from '@vitrine/protocol/primitives'
import type { HttpRequest } from '../http/http-request.ts'
import { parseJson } from './parse-json.ts'

/** Reads a body as its route requires: validated JSON, or a stream of bytes. */
export async function readBody(request: HttpRequest, route: Route, maxBytes: number): Promise<unknown> {
  const { body: schema } = route
  if (schema === undefined) return undefined
  if (schema === 'bytes') return request.body
  const text = await readText(request, maxBytes)
  if (text === '') {
    if (route.bodyOptional) return undefined
    throw new VitrineError('body_invalid', 'body: expected JSON, got nothing.')
  }
  assertJson(request)
  return parseAs('body', schema, parseJson('body', text))
}

const noQuery = strict({})

export function checkQuery(values: Record<string, string>, { query = noQuery }: Route): unknown {
  // Most requests without a query are to routes that have none.
  if (query === noQuery && Object.keys(values).length === 0) return values
  return parseAs('query', query, values)
}

/** CSRF: browsers send form content types cross-origin without a preflight, so only JSON is accepted. */
function assertJson(request: HttpRequest): void {
  const type = request.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json' || type?.endsWith('+json')) return
  throw new VitrineError(
    'media_type_unsupported',
    `Expected content-type application/json, got ${type === undefined ? 'none' : shown(type)}.`,
  )
}

async function readText(request: HttpRequest, maxBytes: number): Promise<string> {
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) return ''
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of request.body) {
    bytes += part.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function tooLarge(maxBytes: number): VitrineError {
  return new VitrineError('body_too_large', `body: expected at most ${maxBytes} bytes.`, {
    details: { limit: maxBytes },
  })
}
