import { RequestError } from '@agentclientprotocol/sdk/unstable'
import { type JsonObject, toVitrineError, VitrineError } from '@vitrine/protocol'
import { objectIn, textIn } from './fields.ts'

const authRequired = -32_000

/** Converts the failure of a request to an agent that runs: it responded with an error, or with something invalid. */
export function requestError(
  { agent, howToLogIn }: { readonly agent: string; readonly howToLogIn: string },
  method: string,
  error: unknown,
): VitrineError {
  if (!(error instanceof RequestError)) {
    const { message } = toVitrineError(error)
    return new VitrineError(
      'agent_protocol_error',
      `The agent ${agent} sent an invalid response to ${method}: ${message}`,
      { cause: error },
    )
  }
  const { code, data } = error
  const inner = textIn(data, 'message') ?? textIn(data, 'details')
  const message =
    inner === undefined || error.message.includes(inner) ? error.message : `${error.message}: ${inner}`
  const details = { agent, method, code, ...(isJson(data) && { data }) }
  if (code === authRequired)
    return new VitrineError(
      'credentials_missing',
      `The agent ${agent} requires a login (${message}). ${howToLogIn}`,
      { details, cause: error },
    )
  return new VitrineError(
    'agent_failed',
    `The agent ${agent} responded to ${method} with an error: ${message}`,
    {
      details,
      cause: error,
    },
  )
}

function isJson(data: unknown): data is JsonObject {
  return objectIn(data) !== undefined
}
