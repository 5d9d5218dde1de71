import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'

/** Something that is done to a workspace. What cannot be done is not done. */
export type Operation =
  | { readonly do: 'write' | 'append' | 'rewrite'; readonly path: string; readonly text: string }
  | { readonly do: 'truncate' | 'unlink' | 'chmod' | 'symlink' | 'toFile' | 'toDirectory'; readonly path: string }
  | { readonly do: 'removeAll' | 'makeAll'; readonly path: string }
  | { readonly do: 'rename' | 'swap' | 'link'; readonly path: string; readonly to: string }
  | { readonly do: 'pause'; readonly milliseconds: number }
  | { readonly do: 'flush' }

const name = fc.constantFrom('a', 'b', 'c', 'd', 'é', 'n\nl')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const text = fc.constantFrom('', 'one', 'two', 'three', 'x'.repeat(5_000))
const kind = <const K extends Operation['do']>(one: K) => fc.constant(one)

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('write', 'append', 'rewrite'), path, text }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('truncate', 'unlink', 'chmod', 'symlink', 'toFile', 'toDirectory'),
      path,
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('removeAll', 'makeAll', 'makeAll', 'makeAll'), path }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constantFrom('rename', 'rename', 'swap', 'link'), path, to: path }) },
  { weight: 4, arbitrary: fc.record({ do: kind('pause'), milliseconds: fc.integer({ min: 0, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ do: kind('flush') }) },
)

/** The paths that it may have changed, each with what is below it. */
export async function carryOut(root: string, one: Operation, flush: () => Promise<void>): Promise<string[]> {
  if (one.do === 'pause') {
    if (one.milliseconds > 0) await sleep(one.milliseconds)
    return []
  }
  if (one.do === 'flush') {
    await flush()
    return []
  }
  const full = join(root, one.path)
  try {
    act(root, one, full)
  } catch (error) {
    // Half of a swap may have been done.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
  return 'to' in one ? [one.path, one.to, '.between'] : [one.path]
}

function act(root: string, one: Exclude<Operation, { do: 'pause' | 'flush' }>, full: string): void {
  switch (one.do) {
    case 'write':
      writeFileSync(full, one.text)
      return
    case 'append':
      appendFileSync(full, one.text)
      return
    case 'rewrite': {
      // The same length, and the time is put back.
      const { size, atime, mtime } = lstatSync(full)
      writeFileSync(full, one.text.padEnd(size, 'y').slice(0, size), { flag: 'r+' })
      utimesSync(full, atime, mtime)
      return
    }
    case 'truncate':
      truncateSync(full, 1)
      return
    case 'unlink':
      unlinkSync(full)
      return
    case 'chmod':
      if (!lstatSync(full).isSymbolicLink()) chmodSync(full, lstatSync(full).mode ^ 0o011)
      return
    case 'symlink':
      symlinkSync('../somewhere', full)
      return
    case 'toFile':
      rmSync(full, { recursive: true })
      writeFileSync(full, 'was a directory')
      return
    case 'toDirectory':
      rmSync(full, { recursive: true })
      mkdirSync(full)
      writeFileSync(join(full, 'in'), 'was a file')
      return
    case 'removeAll':
      rmSync(full, { recursive: true })
      return
    case 'makeAll':
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, one.path)
      return
    case 'rename':
      renameSync(full, join(root, one.to))
      return
    case 'swap':
      renameSync(full, join(root, '.between'))
      renameSync(join(root, one.to), full)
      renameSync(join(root, '.between'), join(root, one.to))
      return
    case 'link':
      linkSync(full, join(root, one.to))
      return
  }
}
