import { type ModelEndpoint, VitrineError } from '@vitrine/protocol'
import type { AgentEntry } from '../../registry/entry.ts'
import { fill, type TemplateValues } from '../../registry/fill.ts'

type Texts = Readonly<Record<string, string>>

/** The environment, files and egress that make an agent use another model endpoint. */
export interface ModelEndpointSetup {
  readonly env: Texts
  /** Paths relative to HOME. */
  readonly files: Texts
  readonly egress: readonly string[]
}

export function modelEndpointSetup(
  entry: AgentEntry,
  endpoint: ModelEndpoint | undefined,
  home: string,
): ModelEndpointSetup {
  if (endpoint === undefined) return { env: {}, files: {}, egress: [] }
  const { modelEndpoint } = entry
  if (modelEndpoint === undefined)
    throw new VitrineError(
      'unsupported',
      `modelEndpoint: the agent ${entry.name} does not support another model endpoint.`,
    )
  const egress = egressOf(endpoint.url)
  if (egress.length === 0)
    throw new VitrineError('argument_invalid', `modelEndpoint.url: expected an http or https URL.`)
  const model = endpoint.model ?? modelEndpoint.defaultModel
  const values: TemplateValues = {
    url: endpoint.url.replace(/\/+$/, '') + modelEndpoint.path,
    key: endpoint.key ?? 'none',
    home,
    ...(model !== undefined && { model }),
  }
  return {
    env: withoutPlaceholders(mapValues(modelEndpoint.env, (text) => fill(text, values))),
    files: mapValues(modelEndpoint.files, (text) => fill(text, escapeForQuotes(values))),
    egress,
  }
}

/** `host:port` of an http or https URL; empty for any other text. */
export function egressOf(text: string): string[] {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return []
  const { hostname, port, protocol } = new URL(text)
  return [`${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`]
}

/** Drops variables whose placeholder has no value, so that the agent uses its default. */
function withoutPlaceholders(env: Texts): Texts {
  return Object.fromEntries(Object.entries(env).filter(([, text]) => !/\{(url|key|model)\}/.test(text)))
}

/** Escapes values for the quoted strings of JSON and TOML files. */
function escapeForQuotes(values: TemplateValues): TemplateValues {
  return mapValues(values, (text) => JSON.stringify(text).slice(1, -1))
}

function mapValues(record: Texts, change: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, change(text)]))
}
