import type { JournalEvent } from '@vitrine/protocol'
import type { TestContext } from 'vitest'
import { allEvents } from '../events.ts'
import {
  type MakeSandbox,
  newSandbox,
  type SandboxTestOptions,
  type SandboxUnderTest,
  type TestedSandbox,
} from '../kit.ts'

/** Creates a sandbox with a watched workspace; skips the test where the sandbox has no watcher. */
export async function watchedSandbox(
  make: MakeSandbox,
  skip: TestContext['skip'],
  options?: SandboxTestOptions,
): Promise<SandboxUnderTest> {
  const under = await newSandbox(make, options)
  if (under.sandbox.capabilities.watching === 'none') skip()
  return under
}

/** The recorded file events after a flush, so that every change made so far is included. */
export async function changesOf({ sandbox, journal }: SandboxUnderTest): Promise<JournalEvent[]> {
  await sandbox.files.flush()
  return recordedChanges({ sandbox, journal })
}

/** The recorded file events, without a flush. */
export async function recordedChanges({
  journal,
}: Pick<SandboxUnderTest, 'sandbox' | 'journal'>): Promise<JournalEvent[]> {
  return allEvents(journal, { types: ['file.*'] })
}

/** One line per event: `created a`, or `moved a → b`. */
export function changeLines(events: readonly JournalEvent[]): string[] {
  return events.map(({ type, data }) => {
    const verb = type.replace('file.', '')
    return data.previousPath === undefined
      ? `${verb} ${String(data.path)}`
      : `${verb} ${String(data.previousPath)} → ${String(data.path)}`
  })
}

/** Applies the events to an empty tree. Returns the tree and the inconsistencies among the events. */
export function folded(events: readonly JournalEvent[]): { tree: Map<string, string>; faults: string[] } {
  const tree = new Map<string, string>()
  const faults: string[] = []
  const fault = ({ seq, type, data }: JournalEvent, why: string) =>
    void faults.push(`${seq} ${type} ${String(data.path)}: ${why}`)
  const holds = (path: string) =>
    tree.get(path) === 'directory' && [...tree.keys()].some((one) => one.startsWith(`${path}/`))
  for (const event of events) {
    if (event.type === 'file.created') {
      const { path, kind } = event.data
      if (tree.has(path)) fault(event, 'the path already existed')
      const above = path.slice(0, Math.max(0, path.lastIndexOf('/')))
      if (above !== '' && tree.get(above) !== 'directory') fault(event, 'its directory did not exist')
      tree.set(path, kind)
    } else if (event.type === 'file.changed') {
      if (tree.get(event.data.path) !== event.data.kind) fault(event, 'the path did not exist with this kind')
    } else if (event.type === 'file.deleted') {
      if (tree.get(event.data.path) !== event.data.kind) fault(event, 'the path did not exist with this kind')
      if (holds(event.data.path)) fault(event, 'the directory was not empty')
      tree.delete(event.data.path)
    } else if (event.type === 'file.moved') {
      const { path, previousPath, kind } = event.data
      if (tree.get(previousPath) !== kind) fault(event, `${previousPath} did not exist with this kind`)
      if (holds(previousPath)) fault(event, `${previousPath} was not empty`)
      tree.delete(previousPath)
      tree.set(path, kind)
    }
  }
  return { tree, faults }
}

/** The workspace as it is on disk, without the names that are ignored by default. */
export async function workspaceTree(sandbox: TestedSandbox): Promise<Map<string, string>> {
  const tree = new Map<string, string>()
  for (const [letter, kind] of [
    ['f', 'file'],
    ['d', 'directory'],
    ['l', 'symlink'],
    ['p', 'other'],
  ] as const) {
    const { stdout } = await sandbox.exec(
      `find . -mindepth 1 '(' -name .git -o -name node_modules ')' -prune -o -type ${letter} -print0`,
      { maxOutputBytes: 20_000_000 },
    )
    for (const path of stdout.split('\0')) if (path !== '') tree.set(path.slice(2), kind)
  }
  return tree
}

/** All differences between the recorded events and the workspace. The workspace must have been empty at first. */
export async function faultsOf(under: SandboxUnderTest): Promise<string[]> {
  const { tree, faults } = folded(await changesOf(under))
  const real = await workspaceTree(under.sandbox)
  for (const [path, kind] of real)
    if (tree.get(path) !== kind)
      faults.push(`${path}: is ${kind} on disk, but ${tree.get(path) ?? 'absent'} after the events`)
  for (const path of tree.keys())
    if (!real.has(path)) faults.push(`${path}: is absent on disk, but present after the events`)
  return faults.slice(0, 20)
}
