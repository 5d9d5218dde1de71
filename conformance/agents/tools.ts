import type { JournalEvent } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import type { Expected } from './expected.ts'
import { fileIn, type Scene, type Taken, take } from './scene.ts'

/** Files and commands: with a yes, with a no, and without a question where the agent never asks. */
export function toolCases({ answers, run, refused }: Expected, scene: () => Scene): void {
  if (answers === undefined) {
    it('writes a file, and asks nobody', async () => {
      const { path } = fileIn(scene(), 'written.txt')
      const turn = await take(scene(), `write:${path}:carefully written`)
      expectNoQuestion(turn)
      expectFile(scene(), turn, 'written.txt', 'carefully written')
    })

    it('runs a command, and asks nobody', async () => {
      const { path } = fileIn(scene(), 'ran.txt')
      const turn = await take(scene(), `${run}:echo it ran > ${path}`)
      expectNoQuestion(turn)
      expectFile(scene(), turn, 'ran.txt', 'it ran')
    })
    return
  }

  it('writes a file once it may', async () => {
    const { path } = fileIn(scene(), 'written.txt')
    const turn = await take(scene(), `write:${path}:carefully written`, { answer: 'allow_once' })
    expectOneQuestion(turn, 'allow_once', answers.allow_once)
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectFile(scene(), turn, 'written.txt', 'carefully written')
  })

  it('writes no file when it may not', async () => {
    const { path } = fileIn(scene(), 'refused.txt')
    const turn = await take(scene(), `write:${path}:never written`, { answer: 'reject_once' })
    expectOneQuestion(turn, 'reject_once', answers.reject_once)
    expect(turn.result).toMatchObject({ outcome: refused })
    expectNoFile(scene(), turn, 'refused.txt')
  })

  it('runs a command once it may', async () => {
    const { path } = fileIn(scene(), 'ran.txt')
    const turn = await take(scene(), `${run}:echo it ran > ${path}`, { answer: 'allow_once' })
    expectOneQuestion(turn, 'allow_once', answers.allow_once)
    expect(turn.result).toMatchObject({ outcome: 'ok' })
    expectFile(scene(), turn, 'ran.txt', 'it ran')
  })

  it('runs no command when it may not', async () => {
    const { path } = fileIn(scene(), 'refused-too.txt')
    const turn = await take(scene(), `${run}:echo it ran > ${path}`, { answer: 'reject_once' })
    expectOneQuestion(turn, 'reject_once', answers.reject_once)
    expect(turn.result).toMatchObject({ outcome: refused })
    expectNoFile(scene(), turn, 'refused-too.txt')
  })
}

/** Asked once, answered once by us, with the agent's own name for what was meant. */
function expectOneQuestion({ events }: Taken, answer: string, option: string): void {
  const asked = ofType(events, 'permission.requested')
  expect(asked).toHaveLength(1)
  expect(ofType(events, 'permission.resolved')).toMatchObject([
    { data: { permission: asked[0]?.data.permission, outcome: 'ok', answer, option, by: 'code' } },
  ])
}

function expectNoQuestion({ result, events }: Taken): void {
  expect(result).toMatchObject({ outcome: 'ok' })
  expect(events.filter(({ type }) => type.startsWith('permission.'))).toEqual([])
}

/** It is there, and the journal had it before the turn was over. Some agents add the end of a line. */
function expectFile(scene: Scene, { events }: Taken, name: string, content: string): void {
  expect(fileIn(scene, name).content?.trimEnd()).toBe(content)
  const [finished] = ofType(events, 'turn.finished')
  const changes = changesOf(events, name)
  expect(changes.length).toBeGreaterThan(0)
  for (const { seq } of changes) expect(seq).toBeLessThan(finished?.seq ?? 0)
  // Some write it under another name first, and some twice.
  expect(changes.at(-1)?.data.size).toBe(fileIn(scene, name).content?.length)
}

function expectNoFile(scene: Scene, { events }: Taken, name: string): void {
  expect(fileIn(scene, name).content).toBeUndefined()
  expect(changesOf(events, name)).toEqual([])
}

function changesOf(events: readonly JournalEvent[], name: string): JournalEvent[] {
  return events.filter(({ type, data }) => type.startsWith('file.') && data.path === name)
}

function ofType(events: readonly JournalEvent[], wanted: string): JournalEvent[] {
  return events.filter(({ type }) => type === wanted)
}
