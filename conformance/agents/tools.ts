import type { JournalEvent } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import type { Asks, Expected, ToolEnding } from './expected.ts'
import { fileIn, ofType, type Scene, type Taken, take, updateOf } from './scene.ts'
import { modelKey } from './setting.ts'

/** Files and commands: with a yes, with a no, and without a question where the agent never asks. */
export function toolCases(expected: Expected, scene: () => Scene): void {
  const { asks, run } = expected
  if (asks === undefined) neverAsking(expected, scene)
  else asking(expected, asks, scene)

  it('goes on after a command that failed', async () => {
    const { result } = await take(scene(), `${run}:echo bad && exit 3`, { answer: 'allow_once' })
    expect(result).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
  })
}

/** What it does where nobody has chosen a mode: our isolation is its sandbox, or it has its own. */
export function firstModeCases(scene: () => Scene): void {
  it('writes and runs in the mode that it begins with, and asks nobody', async () => {
    const { sandbox, expected, model } = scene()
    const session = await sandbox.openSession({
      agent: expected.agent,
      modelEndpoint: { url: model.url, key: modelKey },
    })
    try {
      const first = { sandbox, session }
      const { path } = fileIn(first, 'first-mode.txt')
      const wrote = await take(first, `write:${path}:written at once`)
      expectNoQuestion(wrote)
      expectFile(first, wrote, 'first-mode.txt', 'written at once')
      const other = fileIn(first, 'first-mode-too.txt')
      const ran = await take(first, `run:echo ran at once > ${other.path}`)
      expectNoQuestion(ran)
      expectFile(first, ran, 'first-mode-too.txt', 'ran at once')
    } finally {
      await session.close()
    }
  })
}

function neverAsking(expected: Expected, scene: () => Scene): void {
  it('writes a file, and asks nobody', async () => {
    const { path } = fileIn(scene(), 'written.txt')
    const turn = await take(scene(), `write:${path}:carefully written`)
    expectNoQuestion(turn)
    expectFile(scene(), turn, 'written.txt', 'carefully written')
    expectToolCall(expected, turn)
  })

  it('runs a command, and asks nobody', async () => {
    const { path } = fileIn(scene(), 'ran.txt')
    const turn = await take(scene(), `${expected.run}:echo it ran > ${path}`)
    expectNoQuestion(turn)
    expectFile(scene(), turn, 'ran.txt', 'it ran')
    expectToolCall(expected, turn)
  })
}

function asking(expected: Expected, asks: Asks, scene: () => Scene): void {
  const { run } = expected

  it('writes a file once it may', async () => {
    const { path } = fileIn(scene(), 'written.txt')
    const turn = await take(scene(), `write:${path}:carefully written`, { answer: 'allow_once' })
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectOneQuestion(turn, asks, 'allow_once')
    expectFile(scene(), turn, 'written.txt', 'carefully written')
    expectToolCall(expected, turn)
  })

  it('writes no file when it may not', async () => {
    const { path } = fileIn(scene(), 'refused.txt')
    const turn = await takeRefused(scene(), `write:${path}:never written`)
    expectRefused(turn, asks)
    expectNoFile(scene(), turn, 'refused.txt')
    expectEnding(expected, turn, 'refused write')
  })

  it('runs a command once it may', async () => {
    const { path } = fileIn(scene(), 'ran.txt')
    const turn = await take(scene(), `${run}:echo it ran > ${path}`, { answer: 'allow_once' })
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectOneQuestion(turn, asks, 'allow_once')
    expectFile(scene(), turn, 'ran.txt', 'it ran')
    expectToolCall(expected, turn)
  })

  it('runs no command when it may not', async () => {
    const { path } = fileIn(scene(), 'refused-too.txt')
    const turn = await takeRefused(scene(), `${run}:echo it ran > ${path}`)
    expectRefused(turn, asks)
    expectNoFile(scene(), turn, 'refused-too.txt')
    expectEnding(expected, turn, 'refused command')
  })
}

/** The calls of tools that the agent did not end are ended with the turn, and no others. */
export function expectEnding({ leavesOpen }: Expected, { events }: Taken, ending: ToolEnding): void {
  const [finished] = ofType(events, 'turn.finished')
  const closed: unknown = finished?.data.closedToolCalls
  expect(closed).toEqual(leavesOpen.includes(ending) ? [expect.any(String)] : undefined)
}

interface Refused extends Taken {
  /** How often the model was told what became of the tool. */
  readonly heard: number
}

export async function takeRefused(scene: Scene, prompt: string): Promise<Refused> {
  const { requests } = scene.model
  const before = requests.length
  const turn = await take(scene, prompt, { answer: 'reject_once' })
  return { ...turn, heard: requests.slice(before).filter(({ results }) => results > 0).length }
}

export function expectRefused(turn: Refused, asks: Asks): void {
  expectOneQuestion(turn, asks, 'reject_once')
  expect(turn.result).toMatchObject({ outcome: asks.refused.outcome })
  expect(turn.heard).toBe(asks.refused.modelHears ? 1 : 0)
}

/** Asked once, answered once by us, with the agent's own name for what was meant. */
function expectOneQuestion({ events }: Taken, { answers }: Asks, answer: keyof Asks['answers']): void {
  const asked = ofType(events, 'permission.requested')
  expect(asked).toHaveLength(1)
  const permission = asked[0]?.data.permission
  expect(ofType(events, 'permission.resolved')).toMatchObject([
    { data: { permission, outcome: 'ok', answer, option: answers[answer], by: 'code' } },
  ])
}

function expectNoQuestion({ result, events }: Taken): void {
  expect(result).toMatchObject({ outcome: 'ok' })
  expect(events.filter(({ type }) => type.startsWith('permission.'))).toEqual([])
}

/** It is there, and the journal had it before the turn was over. Some agents add the end of a line. */
function expectFile(
  scene: Parameters<typeof fileIn>[0],
  { events }: Taken,
  name: string,
  content: string,
): void {
  const there = fileIn(scene, name).content
  expect(there?.trimEnd()).toBe(content)
  const [finished] = ofType(events, 'turn.finished')
  const changes = changesOf(events, name)
  expect(changes.length).toBeGreaterThan(0)
  for (const { seq } of changes) expect(seq).toBeLessThan(finished?.seq ?? 0)
  // Some write it under another name first, and some twice.
  expect(changes.at(-1)?.data.size).toBe(there?.length)
}

export function expectNoFile(scene: Scene, { events }: Taken, name: string): void {
  expect(fileIn(scene, name).content).toBeUndefined()
  expect(changesOf(events, name)).toEqual([])
}

/** When it was said that a tool call begins, and whether the file came through us. */
function expectToolCall({ toolCall, writesThroughUs }: Expected, { events }: Taken): void {
  const told = events.flatMap((event) => updateOf(event)?.sessionUpdate ?? [])
  const began = told.indexOf('tool_call')
  const updated = told.indexOf('tool_call_update')
  expect(began === -1 ? 'never' : began < updated ? 'first' : 'late').toBe(toolCall)
  const written = events.filter(({ type, data }) => {
    const { method, params } = (type === 'agent.message' ? data.message : {}) as Writing
    return method === 'fs/write_text_file' && params?.path?.endsWith('written.txt')
  })
  const wrote = changesOf(events, 'written.txt').length > 0
  expect(written).toHaveLength(writesThroughUs && wrote ? 1 : 0)
}

interface Writing {
  readonly method?: string
  readonly params?: { readonly path?: string }
}

function changesOf(events: readonly JournalEvent[], name: string): JournalEvent[] {
  return events.filter(({ type, data }) => type.startsWith('file.') && data.path === name)
}
