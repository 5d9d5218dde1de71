const pattern = /^(?!ff)(?!00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/** Whether a string is a `traceparent` header as W3C Trace Context defines it. A newer version may have more fields. */
export function isTraceparent(text: string): boolean {
  return pattern.test(text)
}
