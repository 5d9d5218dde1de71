import {
  type AvailableCommand,
  type InitializeResponse,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk/unstable'
import { commands } from './commands/table.ts'
import type { DemoSettings } from './settings.ts'

export const version = '1.0.0'

/** The agent's response to `initialize`. */
export function initializeResponse(settings: DemoSettings): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'vitrine-demo', title: 'Vitrine demo agent', version },
    agentCapabilities: {
      loadSession: !settings.noLoad,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        list: {},
        fork: {},
        close: {},
        ...(settings.noLoad ? {} : { resume: {} }),
      },
    },
    authMethods: settings.needsKey
      ? [{ id: 'key', name: 'API key', description: 'Set DEMO_API_KEY to anything' }]
      : [],
  }
}

/** The command table in the form that clients show while the user types a prompt. */
export const availableCommands: AvailableCommand[] = commands.map(({ name, takes, what }) => ({
  name,
  description: what,
  ...(takes === '' ? {} : { input: { hint: takes } }),
}))
