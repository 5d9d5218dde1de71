import type {
  AgentNotificationParamsByMethod,
  AgentRequestParamsByMethod,
  AgentRequestResponsesByMethod,
  ClientNotificationParamsByMethod,
  ClientRequestParamsByMethod,
  ClientRequestResponsesByMethod,
  ErrorResponse,
  JsonRpcId,
} from '@agentclientprotocol/sdk/unstable'
import type * as z from 'zod/mini'
import type { longText } from './data/shared.ts'

/**
 * A message between Vitrine and an agent, in the types of the Agent Client Protocol's SDK. It is recorded as it was sent:
 * a program that reads the messages of an agent that it does not trust checks the fields that it uses.
 *
 * @example
 * if (message.method === 'session/update') show(message.params.update)
 */
export type AgentMessage =
  | RequestOf<AgentRequestParamsByMethod & ClientRequestParamsByMethod>
  | NotificationOf<AgentNotificationParamsByMethod & ClientNotificationParamsByMethod>
  | ExtensionMessage
  | AgentResponse
  | LargeMessage

type RequestOf<Params> = {
  [Method in keyof Params]: NotificationOf<Params, Method> & { readonly id: JsonRpcId }
}[keyof Params]

type NotificationOf<Params, Methods extends keyof Params = keyof Params> = {
  [Method in Methods]: {
    readonly jsonrpc: '2.0'
    readonly method: Method
    readonly params: Params[Method]
  }
}[Methods]

/** Methods that begin with an underscore are extensions; `$/cancel_request` belongs to the transport. */
interface ExtensionMessage {
  readonly jsonrpc: '2.0'
  readonly id?: JsonRpcId
  readonly method: `_${string}` | `$/${string}`
  readonly params?: unknown
}

type AgentResponse = {
  readonly jsonrpc: '2.0'
  readonly id: JsonRpcId
  readonly method?: undefined
} & ({ readonly result: AnyResult } | { readonly error: ErrorResponse })

type AnyResult =
  | AgentRequestResponsesByMethod[keyof AgentRequestResponsesByMethod]
  | ClientRequestResponsesByMethod[keyof ClientRequestResponsesByMethod]

/** A message of more than a megabyte: its JSON as a blob, or the beginning and the end of it if the store is full. */
type LargeMessage = z.infer<ReturnType<typeof longText>> & { readonly method?: undefined }
