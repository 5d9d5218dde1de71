import type { AgentEntry } from '../registry/entry.ts'
import { hasLoginFile } from './login-file.ts'

export interface HostPlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/** Names of the credentials that this machine has for an agent; no value is read. */
export function credentialsPresent({ credentials }: AgentEntry, { env, home }: HostPlaces): string[] {
  return [
    ...credentials.variables.filter((name) => isSet(env[name])),
    ...credentials.files.filter((path) => hasLoginFile(home, path)).map(fromHome),
  ]
}

/** Any one of these is enough. */
export function credentialsWanted({ credentials }: AgentEntry): string[] {
  return [...credentials.variables, ...credentials.files.map(fromHome)]
}

export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

export function fromHome(path: string): string {
  return `~/${path}`
}
