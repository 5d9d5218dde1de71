/** The request headers that every route accepts. */
export const contextParameters = [
  header(
    'vitrine-actor',
    'The person or program that asks, percent-encoded, recorded as claimed; by default the name of the token. The name of the token is recorded as caller, whatever this says.',
  ),
  header('vitrine-run', 'The run that the call belongs to, percent-encoded.'),
  header('vitrine-session', 'The session that the call belongs to, percent-encoded.'),
  header('vitrine-turn', 'The turn that the call belongs to, percent-encoded.'),
  header('traceparent', 'The span that the call belongs to, in the form of W3C Trace Context.'),
  header(
    'vitrine-start',
    'With `true`, a GET may start a stopped sandbox, as the calls of the client do. Without it, it starts none.',
  ),
  header('vitrine-call', 'An id of the call: `DELETE /v1/calls/{call}` cancels it.'),
] as const

function header(name: string, description: string) {
  return { name, in: 'header', description, schema: { type: 'string' } } as const
}
