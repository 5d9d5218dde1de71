import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  RequestError,
} from '@agentclientprotocol/sdk/unstable'
import type { DemoConnection } from './connection.ts'
import { replayable } from './history.ts'
import { availableCommands, initializeResponse } from './initialize-response.ts'
import { configOptions, isChoice, isMode, isValueOf, modeState } from './options.ts'
import { runPrompt } from './run-prompt.ts'
import type { DemoSession } from './session.ts'
import { DemoSessions } from './sessions.ts'
import type { DemoSettings } from './settings.ts'

/** Handles the methods of the Agent Client Protocol. */
export function demoAgent(settings: DemoSettings, connection: DemoConnection): AgentApp {
  const sessions = new DemoSessions(settings.home)
  let clientCapabilities: ClientCapabilities = {}

  const checkKey = () => {
    if (settings.needsKey && !settings.hasKey)
      throw RequestError.authRequired(undefined, 'DEMO_API_KEY is not set')
  }

  const app = agent({ name: 'vitrine-demo' })
    .onRequest('initialize', ({ params }) => {
      clientCapabilities = params.clientCapabilities ?? {}
      return initializeResponse(settings)
    })
    .onRequest('authenticate', () => {
      checkKey()
      return {}
    })
    .onRequest('session/new', ({ params, client }) => {
      checkKey()
      const session = sessions.create(params.cwd, params.mcpServers)
      sendCommands(client, session)
      return { sessionId: session.id, ...stateOf(session) }
    })
    .onRequest('session/fork', ({ params, client }) => {
      const session = sessions.fork(params.sessionId, params.cwd, params.mcpServers ?? [])
      sendCommands(client, session)
      return { sessionId: session.id, ...stateOf(session) }
    })
    .onRequest('session/list', ({ params }) =>
      sessions.list(params.cwd ?? undefined, params.cursor ?? undefined),
    )
    .onRequest('session/close', ({ params }) => {
      sessions.close(params.sessionId)
      return {}
    })
    .onRequest('session/set_mode', ({ params }) => {
      const session = sessions.get(params.sessionId)
      if (!isMode(params.modeId)) throw RequestError.invalidParams({ modeId: params.modeId })
      session.mode = params.modeId
      sessions.save(session)
      return {}
    })
    .onRequest('session/set_config_option', ({ params }) => {
      const session = sessions.get(params.sessionId)
      const { configId, value } = params
      if (!isChoice(configId) || !isValueOf(configId, value)) {
        throw RequestError.invalidParams({ configId, value })
      }
      session.choices = { ...session.choices, [configId]: value }
      sessions.save(session)
      return { configOptions: configOptions(session.choices) }
    })
    .onRequest('session/prompt', (context) => {
      const session = sessions.get(context.params.sessionId)
      return runPrompt(context, {
        session,
        clientCapabilities,
        settings,
        connection,
        save: () => sessions.save(session),
      })
    })
    .onNotification('session/cancel', ({ params }) => {
      sessions.get(params.sessionId).running?.abort(new Error('cancelled'))
    })
  return settings.noLoad ? app : withLoading(app, sessions)
}

function withLoading(app: AgentApp, sessions: DemoSessions): AgentApp {
  return app
    .onRequest('session/load', async ({ params, client }) => {
      const session = sessions.restore(params.sessionId, params.cwd, params.mcpServers)
      await replay(client, session)
      sendCommands(client, session)
      return stateOf(session)
    })
    .onRequest('session/resume', ({ params, client }) => {
      const session = sessions.restore(params.sessionId, params.cwd, params.mcpServers ?? [])
      sendCommands(client, session)
      return stateOf(session)
    })
}

function stateOf(session: DemoSession) {
  return { modes: modeState(session.mode), configOptions: configOptions(session.choices) }
}

/** Sends the commands after the response in which the client gets the session id. */
function sendCommands(client: AgentContext, { id }: DemoSession): void {
  setImmediate(() => {
    const update = { sessionUpdate: 'available_commands_update' as const, availableCommands }
    client.notify('session/update', { sessionId: id, update }).catch(() => {})
  })
}

async function replay(client: AgentContext, session: DemoSession): Promise<void> {
  const { id: sessionId, title, updatedAt } = session
  for (const update of session.history.map(replayable))
    await client.notify('session/update', { sessionId, update })
  if (title === undefined) return
  const update = { sessionUpdate: 'session_info_update' as const, title, updatedAt }
  await client.notify('session/update', { sessionId, update })
}
