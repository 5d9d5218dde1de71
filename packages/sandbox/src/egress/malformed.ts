/** What was asked for in bytes that are not HTTP: the last request line up to where they stopped making sense. */
export function askedIn(packet: Uint8Array, bytesParsed: number): string {
  const text = Buffer.from(packet).toString('latin1')
  const lineEnd = text.indexOf('\n', bytesParsed)
  const lines = text.slice(0, lineEnd === -1 ? undefined : lineEnd).split('\n')
  const target = lines.flatMap((line) => /^[A-Z-]{3,20} +([^\r]*)/.exec(line)?.[1] ?? []).at(-1)
  if (target === undefined) return ''
  return Buffer.from(authorityOf(target.replace(/ HTTP\/[0-9.]*$/, '')), 'latin1').toString('utf8')
}

/** A request's target without its path, which is nobody's business. */
export function authorityOf(url: string): string {
  return url.replace(/^(?:[a-z]+:\/\/)?([^/?]*).*$/is, '$1')
}
