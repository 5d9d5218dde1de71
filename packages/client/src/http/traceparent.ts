import { VitrineError } from '@vitrine/protocol'

const w3c = /^(?!ff)(?!00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/** A server has to ignore one that is malformed, whoever put it there; who gives one here is told. */
export function checkedTraceparent(value: string): string {
  if (w3c.test(value) && /^[\x21-\x7e]*$/.test(value)) return value
  throw new VitrineError(
    'argument_invalid',
    'traceparent: expected the W3C form 00-<32 hex>-<16 hex>-<2 hex>.',
  )
}
