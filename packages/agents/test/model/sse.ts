/** One frame of a stream of server-sent events. */
export function frame(data: unknown, event?: string): string {
  const body = typeof data === 'string' ? data : JSON.stringify(data)
  return `${event ? `event: ${event}\n` : ''}data: ${body}\n\n`
}
