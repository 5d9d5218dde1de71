import type { Routes } from '@vitrine/protocol/http'
import { describe, expectTypeOf, it } from 'vitest'
import { bytesResponse } from '../../src/responses/bytes.ts'
import { encodedJsonResponse, jsonResponse } from '../../src/responses/json.ts'
import type { CallOf, Handler, ParamsOf } from '../../src/routing/call.ts'

/** These are checked by the compiler: a `@ts-expect-error` without an error does not compile. */
describe('The type of a handler', () => {
  it('has the parameters of its path, and of a sandbox route the sandbox', () => {
    expectTypeOf<CallOf<Routes['readLogs']>['params']['process']>().toEqualTypeOf<string>()
    expectTypeOf<CallOf<Routes['readLogs']>['params']['sandbox']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<keyof ParamsOf<Routes['getTurn']>>().toEqualTypeOf<'session' | 'turn' | 'sandbox'>()
    expectTypeOf<keyof ParamsOf<Routes['readBlob']>>().toEqualTypeOf<'hash' | 'sandbox'>()
    expectTypeOf<keyof ParamsOf<Routes['getAgent']>>().toEqualTypeOf<'agent'>()
    // @ts-expect-error The path has no such parameter.
    const handler: Handler<Routes['readLogs']> = async ({ params }) => params.session
    expectTypeOf(handler).parameter(0).toEqualTypeOf<CallOf<Routes['readLogs']>>()
  })

  it('refuses JSON of another shape than its response schema', () => {
    const right: Handler<Routes['fileExists']> = async () => ({ exists: true })
    // @ts-expect-error The field is a boolean.
    const wrong: Handler<Routes['fileExists']> = async () => ({ exists: 'yes' })
    // @ts-expect-error The field is missing.
    const empty: Handler<Routes['fileExists']> = async () => ({})
    // @ts-expect-error There is nothing to send.
    const nothing: Handler<Routes['fileExists']> = async () => undefined
    expectTypeOf(right).toEqualTypeOf(wrong)
    expectTypeOf(empty).toEqualTypeOf(nothing)
  })

  it('refuses a JSON response of another shape, whatever its status', () => {
    const right: Handler<Routes['fileExists']> = async () => jsonResponse(201, { exists: true })
    // @ts-expect-error The field is a boolean.
    const wrong: Handler<Routes['fileExists']> = async () => jsonResponse(201, { exists: 'yes' })
    // @ts-expect-error The text is declared with another type.
    const text: Handler<Routes['fileExists']> = async () => encodedJsonResponse<{ count: number }>(200, '{}')
    expectTypeOf(right).toEqualTypeOf(wrong)
    expectTypeOf(text).toEqualTypeOf(right)
  })

  it('allows an untyped response only where the route sends bytes or a stream', () => {
    const bytes = bytesResponse(new ReadableStream(), 0, undefined)
    const blob: Handler<Routes['readBlob']> = async () => bytes
    const stream: Handler<Routes['readEvents']> = async () => bytes
    // @ts-expect-error The route sends JSON.
    const wrong: Handler<Routes['fileExists']> = async () => bytes
    expectTypeOf(blob).returns.resolves.toEqualTypeOf(bytes)
    expectTypeOf(stream).not.toEqualTypeOf(wrong)
  })

  it('returns nothing where the route sends nothing', () => {
    const right: Handler<Routes['moveFile']> = async () => undefined
    // @ts-expect-error The route sends nothing.
    const wrong: Handler<Routes['moveFile']> = async () => ({ moved: true })
    expectTypeOf(right).toEqualTypeOf(wrong)
  })
})
