import { type ModelEndpoint, VitrineError } from '@vitrine/protocol'
import type { AgentEntry } from '../../registry/entry.ts'
import { type Filling, fill } from '../../registry/fill.ts'

type Texts = Readonly<Record<string, string>>

/** What points an agent at another model endpoint. */
export interface PointedAt {
  readonly env: Texts
  /** In HOME. */
  readonly files: Texts
  readonly egress: readonly string[]
}

export function pointAt(entry: AgentEntry, endpoint: ModelEndpoint | undefined, home: string): PointedAt {
  if (endpoint === undefined) return { env: {}, files: {}, egress: [] }
  const { modelEndpoint } = entry
  if (modelEndpoint === undefined)
    throw new VitrineError(
      'unsupported',
      `It is not known how to point the agent ${entry.name} at another model endpoint.`,
    )
  const egress = egressOf(endpoint.url)
  if (egress.length === 0)
    throw new VitrineError(
      'argument_invalid',
      `modelEndpoint.url: expected an http or https address, got ${JSON.stringify(endpoint.url)}.`,
    )
  const model = endpoint.model ?? modelEndpoint.defaultModel
  const values: Filling = {
    url: endpoint.url.replace(/\/+$/, '') + modelEndpoint.path,
    key: endpoint.key ?? 'none',
    home,
    ...(model !== undefined && { model }),
  }
  return {
    env: filledOnly(mapValues(modelEndpoint.env, (text) => fill(text, values))),
    files: mapValues(modelEndpoint.files, (text) => fill(text, quotable(values))),
    egress,
  }
}

/** Host and port of an address; nothing for any other text. */
export function egressOf(text: string): string[] {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return []
  const { hostname, port, protocol } = new URL(text)
  return [`${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`]
}

/** What is left open by the endpoint is left to the agent. */
function filledOnly(env: Texts): Texts {
  return Object.fromEntries(Object.entries(env).filter(([, text]) => !/\{(url|key|model)\}/.test(text)))
}

/** In JSON and TOML they stand between quotes. */
function quotable(values: Filling): Filling {
  return mapValues(values, (text) => JSON.stringify(text).slice(1, -1))
}

function mapValues(record: Texts, change: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, change(text)]))
}
