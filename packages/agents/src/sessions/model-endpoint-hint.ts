import { type ModelEndpoint, VitrineError } from '@vitrine/protocol'

/** The field to check when the model of a session failed that has its own endpoint: it hangs, refuses, or is no model. */
export function modelEndpointHint(endpoint: ModelEndpoint | undefined): string | undefined {
  if (endpoint === undefined || !URL.canParse(endpoint.url)) return undefined
  // A login or a query may hold a secret.
  const { origin, pathname } = new URL(endpoint.url)
  const address = `${origin}${pathname.replace(/\/+$/, '')}`
  return (
    `modelEndpoint.url: the model at ${address} gave no usable answer. Check that it listens, that the sandbox may ` +
    'reach it, that it answers with JSON and not with a page, and that the URL is the base without the path that the agent appends.'
  )
}

/** The error of an agent, with the field to check. */
export function withEndpointHint(error: VitrineError, endpoint: ModelEndpoint | undefined): VitrineError {
  const hint = modelEndpointHint(endpoint)
  if (hint === undefined || (error.code !== 'agent_failed' && error.code !== 'credentials_missing'))
    return error
  const { code, message, details, cause } = error
  return new VitrineError(code, `${message}\n${hint}`, {
    cause: cause ?? error,
    details: { ...details, path: 'modelEndpoint.url' },
  })
}
