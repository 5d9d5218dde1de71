import type { AgentEntry } from '../registry/entry.ts'
import { hasLoginFile } from './login-file.ts'

/** The host's environment and HOME directory. */
export interface HostEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/** Names of an agent's credentials that exist on this machine. */
export function credentialsPresent({ credentials }: AgentEntry, { env, home }: HostEnvironment): string[] {
  return [
    ...credentials.variables.filter((name) => isSet(env[name])),
    ...credentials.files.filter((path) => hasLoginFile(home, path)).map(fromHome),
  ]
}

/** Names of all credentials that an agent accepts; any one of them is enough. */
export function credentialsAccepted({ credentials }: AgentEntry): string[] {
  return [...credentials.variables, ...credentials.files.map(fromHome)]
}

export function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== ''
}

export function fromHome(path: string): string {
  return `~/${path}`
}
