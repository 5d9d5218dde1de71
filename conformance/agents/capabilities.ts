import { isDeepStrictEqual } from 'node:util'
import { knownAgents } from '@vitrine/agents'
import type { JournalEvent } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import type { ExpectedBehaviour } from './expected.ts'
import { type AgentFixture, allEvents, ofType, runTurn } from './fixture.ts'

/** The part of the response to `initialize` that the registry has too. */
interface Reported {
  readonly loadSession?: boolean
  readonly promptCapabilities?: { readonly image?: boolean }
  readonly mcpCapabilities?: { readonly http?: boolean }
  readonly sessionCapabilities?: Readonly<Record<string, object | null | undefined>>
}

/** The registry has the capabilities that the running agent reports. */
export function capabilityCases({ agent, question }: ExpectedBehaviour, fixture: () => AgentFixture): void {
  const entry = knownAgents.find(({ name }) => name === agent)!

  it('reports the capabilities of its entry in the registry', async () => {
    const { sandbox, session } = fixture()
    const { permissions: _, questions: __, shared: ___, ...known } = entry.capabilities
    const { options } = session.info
    const valuesOf = (wanted: string) =>
      options.find(({ category }) => category === wanted)?.choices.map(({ value }) => value)
    const thoughtLevels = valuesOf('thought_level')
    const modes = valuesOf('mode')
    expect({
      ...reportedIn(await allEvents(sandbox)),
      // Pi has its thought levels as modes too.
      modes: modes !== undefined && !isDeepStrictEqual(modes, thoughtLevels),
      models: valuesOf('model') !== undefined,
      thoughtLevels: thoughtLevels !== undefined,
    }).toEqual(known)
  })

  it(
    question === undefined ? 'has no tool to ask questions' : 'asks the questions of its model',
    async () => {
      const { model, session } = fixture()
      expect(entry.capabilities.questions).toBe(question !== undefined)
      if (question === undefined) {
        const tools = model.requests.flatMap((request) => request.tools)
        return expect(tools.filter((tool) => /ask_?user|question/i.test(tool))).toEqual([])
      }
      const { result, events } = await runTurn(
        fixture(),
        `call:${question.tool}:${JSON.stringify(question.input)}`,
        {
          async meanwhile({ until }) {
            const { data } = await until('a question', ({ type }) => type === 'question.requested')
            await session.respondQuestion(String(data.question), { action: 'decline' })
          },
        },
      )
      expect(result).toMatchObject({ outcome: 'ok' })
      expect(ofType(events, 'question.resolved')).toHaveLength(1)
    },
  )
}

function reportedIn(events: readonly JournalEvent[]) {
  const { loadSession, promptCapabilities, mcpCapabilities, sessionCapabilities } = initialized(events)
  const hasMethod = (name: string) => sessionCapabilities?.[name] != null
  return {
    images: promptCapabilities?.image === true,
    load: loadSession === true,
    resume: hasMethod('resume'),
    fork: hasMethod('fork'),
    list: hasMethod('list'),
    close: hasMethod('close'),
    mcp: mcpCapabilities?.http === true,
  }
}

/** The cast is safe: the protocol defines these fields. */
function initialized(events: readonly JournalEvent[]): Reported {
  for (const { data } of ofType(events, 'agent.message')) {
    const { result } = data.message as { readonly result?: { readonly agentCapabilities?: Reported } }
    if (result?.agentCapabilities !== undefined) return result.agentCapabilities
  }
  throw new Error('The journal has no response to initialize.')
}
