import { TimeSlice } from '@vitrine/protocol/primitives'
import { encodedJsonResponse, type JsonResponse } from './json.ts'

const sliceMs = 1
/** Values this deep are encoded as a whole: an entry of a transcript, a sandbox of a list. */
const wholeDepth = 3

/** A response with large JSON, which is encoded in slices between which the event loop runs. */
export async function slicedJsonResponse<T>(status: number, value: T): Promise<JsonResponse<T>> {
  return encodedJsonResponse<T>(status, await slicedJson(value))
}

/** The same text as `JSON.stringify(value)`, for plain data. */
export async function slicedJson(value: unknown): Promise<string> {
  const slice = new TimeSlice(undefined, sliceMs)
  let json = ''
  for (const part of jsonParts(value, 0)) {
    json += part
    if (slice.expired) await slice.yieldToEventLoop()
  }
  return json
}

function* jsonParts(value: unknown, depth: number): Generator<string, void> {
  if (depth === wholeDepth || typeof value !== 'object' || value === null) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isArray = Array.isArray(value)
  let before = isArray ? '[' : '{'
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined && !isArray) continue
    yield isArray ? before : `${before}${JSON.stringify(key)}:`
    yield* jsonParts(inner, depth + 1)
    before = ','
  }
  const end = isArray ? ']' : '}'
  yield before === ',' ? end : before + end
}
