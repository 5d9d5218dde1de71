/** The request headers that every route accepts. */
export const contextParameters = [
  header('vitrine-actor', 'Who calls, percent-encoded; the name of the token by default.'),
  header('vitrine-run', 'The run that the call belongs to, percent-encoded.'),
  header('vitrine-session', 'The session that the call belongs to, percent-encoded.'),
  header('vitrine-turn', 'The turn that the call belongs to, percent-encoded.'),
  header('traceparent', 'The span that the call belongs to, as W3C Trace Context has it.'),
  header('vitrine-call', 'An id of the call: `DELETE /v1/calls/{call}` cancels it.'),
] as const

function header(name: string, description: string) {
  return { name, in: 'header', description, schema: { type: 'string' } } as const
}
