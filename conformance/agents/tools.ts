import type { JournalEvent } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { modelKey } from './environment.ts'
import type { ExpectedBehaviour, PermissionBehaviour, ToolEnding } from './expected.ts'
import { type AgentFixture, fileIn, ofType, runTurn, type TurnRecord, updateOf } from './fixture.ts'

/** File writes and commands: allowed, rejected, and without a permission request if the agent never asks. */
export function toolCases(expected: ExpectedBehaviour, fixture: () => AgentFixture): void {
  const { permissions, run } = expected
  if (permissions === undefined) neverAsking(expected, fixture)
  else asking(expected, permissions, fixture)

  it('continues after a failed command', async () => {
    const { result } = await runTurn(fixture(), `${run}:echo bad && exit 3`, { answer: 'allow_once' })
    expect(result).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
  })
}

/** The default mode: the agent relies on our isolation or on its own sandbox. */
export function firstModeCases(fixture: () => AgentFixture): void {
  it('writes files and runs commands in its default mode without a permission request', async () => {
    const { sandbox, expected, model } = fixture()
    const session = await sandbox.openSession({
      agent: expected.agent,
      modelEndpoint: { url: model.url, key: modelKey },
    })
    try {
      const first = { sandbox, session }
      const { path } = fileIn(first, 'first-mode.txt')
      const wrote = await runTurn(first, `write:${path}:written at once`)
      expectNoQuestion(wrote)
      expectFile(first, wrote, 'first-mode.txt', 'written at once')
      const other = fileIn(first, 'first-mode-too.txt')
      const ran = await runTurn(first, `run:echo ran at once > ${other.path}`)
      expectNoQuestion(ran)
      expectFile(first, ran, 'first-mode-too.txt', 'ran at once')
    } finally {
      await session.close()
    }
  })
}

function neverAsking(expected: ExpectedBehaviour, fixture: () => AgentFixture): void {
  it('writes a file without a permission request', async () => {
    const { path } = fileIn(fixture(), 'written.txt')
    const turn = await runTurn(fixture(), `write:${path}:carefully written`)
    expectNoQuestion(turn)
    expectFile(fixture(), turn, 'written.txt', 'carefully written')
    expectToolCall(expected, turn)
  })

  it('runs a command without a permission request', async () => {
    const { path } = fileIn(fixture(), 'ran.txt')
    const turn = await runTurn(fixture(), `${expected.run}:echo it ran > ${path}`)
    expectNoQuestion(turn)
    expectFile(fixture(), turn, 'ran.txt', 'it ran')
    expectToolCall(expected, turn)
  })
}

function asking(
  expected: ExpectedBehaviour,
  permissions: PermissionBehaviour,
  fixture: () => AgentFixture,
): void {
  const { run } = expected

  it('writes a file after permission is given', async () => {
    const { path } = fileIn(fixture(), 'written.txt')
    const turn = await runTurn(fixture(), `write:${path}:carefully written`, { answer: 'allow_once' })
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectOneQuestion(turn, permissions, 'allow_once')
    expectFile(fixture(), turn, 'written.txt', 'carefully written')
    expectToolCall(expected, turn)
  })

  it('writes no file after permission is rejected', async () => {
    const { path } = fileIn(fixture(), 'refused.txt')
    const turn = await takeRefused(fixture(), `write:${path}:never written`)
    expectRefused(turn, permissions)
    expectNoFile(fixture(), turn, 'refused.txt')
    expectEnding(expected, turn, 'refused write')
  })

  it('runs a command after permission is given', async () => {
    const { path } = fileIn(fixture(), 'ran.txt')
    const turn = await runTurn(fixture(), `${run}:echo it ran > ${path}`, { answer: 'allow_once' })
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectOneQuestion(turn, permissions, 'allow_once')
    expectFile(fixture(), turn, 'ran.txt', 'it ran')
    expectToolCall(expected, turn)
  })

  it('runs no command after permission is rejected', async () => {
    const { path } = fileIn(fixture(), 'refused-too.txt')
    const turn = await takeRefused(fixture(), `${run}:echo it ran > ${path}`)
    expectRefused(turn, permissions)
    expectNoFile(fixture(), turn, 'refused-too.txt')
    expectEnding(expected, turn, 'refused command')
  })
}

/** The turn's end closes exactly those tool calls that the agent left open. */
export function expectEnding(
  { leavesOpen }: ExpectedBehaviour,
  { events }: TurnRecord,
  ending: ToolEnding,
): void {
  const [finished] = ofType(events, 'turn.finished')
  const closed: unknown = finished?.data.closedToolCalls
  expect(closed).toEqual(leavesOpen.includes(ending) ? [expect.any(String)] : undefined)
}

interface RefusedTurn extends TurnRecord {
  /** The number of model requests that contain tool results. */
  readonly toolResults: number
}

export async function takeRefused(fixture: AgentFixture, prompt: string): Promise<RefusedTurn> {
  const { requests } = fixture.model
  const before = requests.length
  const turn = await runTurn(fixture, prompt, { answer: 'reject_once' })
  return { ...turn, toolResults: requests.slice(before).filter(({ results }) => results > 0).length }
}

export function expectRefused(turn: RefusedTurn, permissions: PermissionBehaviour): void {
  expectOneQuestion(turn, permissions, 'reject_once')
  expect(turn.result).toMatchObject({ outcome: permissions.refused.outcome })
  expect(turn.toolResults).toBe(permissions.refused.modelIsInformed ? 1 : 0)
}

/** One permission request, resolved once by code with the agent's own option id. */
function expectOneQuestion(
  { events }: TurnRecord,
  { answers }: PermissionBehaviour,
  answer: keyof PermissionBehaviour['answers'],
): void {
  const requested = ofType(events, 'permission.requested')
  expect(requested).toHaveLength(1)
  const permission = requested[0]?.data.permission
  expect(ofType(events, 'permission.resolved')).toMatchObject([
    { data: { permission, outcome: 'ok', answer, option: answers[answer], by: 'code' } },
  ])
}

function expectNoQuestion({ result, events }: TurnRecord): void {
  expect(result).toMatchObject({ outcome: 'ok' })
  expect(events.filter(({ type }) => type.startsWith('permission.'))).toEqual([])
}

/** The file exists, and its change was recorded before the turn finished. Some agents append a line break. */
function expectFile(
  fixture: Parameters<typeof fileIn>[0],
  { events }: TurnRecord,
  name: string,
  content: string,
): void {
  const actual = fileIn(fixture, name).content
  expect(actual?.trimEnd()).toBe(content)
  const [finished] = ofType(events, 'turn.finished')
  const changes = changesOf(events, name)
  expect(changes.length).toBeGreaterThan(0)
  for (const { seq } of changes) expect(seq).toBeLessThan(finished?.seq ?? 0)
  // Some agents write a temporary file first, and some write twice.
  expect(changes.at(-1)?.data.size).toBe(actual?.length)
}

export function expectNoFile(fixture: AgentFixture, { events }: TurnRecord, name: string): void {
  expect(fileIn(fixture, name).content).toBeUndefined()
  expect(changesOf(events, name)).toEqual([])
}

/** Checks when `tool_call` was sent, and whether the file was written through the client. */
function expectToolCall({ toolCall, writesThroughClient }: ExpectedBehaviour, { events }: TurnRecord): void {
  const updates = events.flatMap((event) => updateOf(event)?.sessionUpdate ?? [])
  const began = updates.indexOf('tool_call')
  const updated = updates.indexOf('tool_call_update')
  expect(began === -1 ? 'never' : began < updated ? 'first' : 'late').toBe(toolCall)
  const written = events.filter(({ type, data }) => {
    const { method, params } = (type === 'agent.message' ? data.message : {}) as WriteMessage
    return method === 'fs/write_text_file' && params?.path?.endsWith('written.txt')
  })
  const wrote = changesOf(events, 'written.txt').length > 0
  expect(written).toHaveLength(writesThroughClient && wrote ? 1 : 0)
}

interface WriteMessage {
  readonly method?: string
  readonly params?: { readonly path?: string }
}

function changesOf(events: readonly JournalEvent[], name: string): JournalEvent[] {
  return events.filter(({ type, data }) => type.startsWith('file.') && data.path === name)
}
