import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toBytes } from '@vitrine/archives'
import { decodePathText } from '@vitrine/protocol/primitives'
import * as fc from 'fast-check'

/** Picks one of the existing entries by a number. */
interface Pick {
  readonly one: number
}

/** A name, new or existing, in one of the existing directories. */
interface OperationTarget {
  readonly in: number
  readonly name: string
}

/** An operation on a workspace. An impossible operation is skipped. */
export type Operation =
  | { readonly do: 'write'; readonly at: OperationTarget; readonly text: string }
  | { readonly do: 'append' | 'rewrite'; readonly at: Pick; readonly text: string }
  | { readonly do: 'truncate' | 'remove' | 'chmod' | 'toFile' | 'toDirectory'; readonly at: Pick }
  | { readonly do: 'symlink' | 'makeNested'; readonly at: OperationTarget }
  | { readonly do: 'rename' | 'link'; readonly at: Pick; readonly to: OperationTarget }
  | { readonly do: 'renameOver' | 'swap'; readonly at: Pick; readonly to: Pick }
  | { readonly do: 'pause'; readonly milliseconds: number }
  | { readonly do: 'flush' }

type Deed = Exclude<Operation, { do: 'pause' | 'flush' }>

const at: fc.Arbitrary<Pick> = fc.record({ one: fc.nat(1_000) })
const to: fc.Arbitrary<OperationTarget> = fc.record({
  in: fc.nat(1_000),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'é', 'n\nl', 'raw\udcff'),
})
const text = fc.constantFrom('', 'one', 'two', 'three', 'x'.repeat(5_000))

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('write'), at: to, text }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('append', 'rewrite'), at, text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('truncate', 'remove', 'chmod', 'toFile', 'toDirectory'),
      at,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('symlink', 'makeNested', 'makeNested'), at: to }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('rename', 'rename', 'link'), at, to }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('renameOver', 'swap'), at, to: at }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pause'), milliseconds: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flush') }) },
)

/** Never changed by any operation. */
export const still = 'still'
const between = '.between'

/** Returns the paths that the operation may have changed, including everything below them. */
export async function carryOut(root: string, one: Operation, flush: () => Promise<void>): Promise<string[]> {
  if (one.do === 'pause') {
    if (one.milliseconds > 0) await sleep(one.milliseconds)
    return []
  }
  if (one.do === 'flush') {
    await flush()
    return []
  }
  const place = (where: Pick | OperationTarget) => pathOf(root, where)
  const paths = 'to' in one ? [place(one.at), place(one.to), between] : [place(one.at)]
  try {
    act(one, bytes(root, paths[0]!), bytes(root, paths[1] ?? ''), bytes(root, between))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
  // Until the watcher knows the other name, a change through it cannot be attributed to the first.
  if (one.do === 'link') await flush()
  return paths
}

function pathOf(root: string, where: Pick | OperationTarget): string {
  const all = ['', ...pathsOf(root, '')]
  if ('one' in where) return all[where.one % all.length || 1] ?? 'nothing'
  const directories = all.filter((path) => lstatSync(bytes(root, path)).isDirectory())
  const directory = directories[where.in % directories.length]!
  return directory === '' ? where.name : `${directory}/${where.name}`
}

function pathsOf(root: string, directory: string): string[] {
  return readdirSync(bytes(root, directory), 'buffer')
    .toSorted(Buffer.compare)
    .flatMap((name) => {
      const path = join(directory, decodePathText(name))
      if (path === still) return []
      return lstatSync(bytes(root, path)).isDirectory() ? [path, ...pathsOf(root, path)] : [path]
    })
}

function bytes(root: string, path: string): Buffer {
  return Buffer.from(toBytes(`${root}/${path}`))
}

function below(path: Buffer, more: string): Buffer {
  return Buffer.concat([path, Buffer.from(`/${more}`)])
}

function act(one: Deed, path: Buffer, target: Buffer, aside: Buffer): void {
  switch (one.do) {
    case 'write':
      writeFileSync(path, one.text)
      return
    case 'append':
      appendFileSync(path, one.text)
      return
    case 'rewrite': {
      // Same length, and the mtime is reset.
      const { size, atime, mtime } = lstatSync(path)
      writeFileSync(path, one.text.padEnd(size, 'y').slice(0, size), { flag: 'r+' })
      utimesSync(path, atime, mtime)
      return
    }
    case 'truncate':
      truncateSync(path, 1)
      return
    case 'remove':
      rmSync(path, { recursive: true })
      return
    case 'chmod':
      if (!lstatSync(path).isSymbolicLink()) chmodSync(path, lstatSync(path).mode ^ 0o011)
      return
    case 'toFile':
      rmSync(path, { recursive: true })
      writeFileSync(path, 'was something else')
      return
    case 'toDirectory':
      rmSync(path, { recursive: true })
      mkdirSync(path)
      writeFileSync(below(path, 'in'), 'new')
      return
    case 'symlink':
      symlinkSync('/proc/nowhere', path)
      return
    case 'makeNested':
      mkdirSync(below(path, 'x/y'), { recursive: true })
      writeFileSync(below(path, 'x/y/deep'), 'deep')
      return
    case 'rename':
    case 'renameOver':
      renameSync(path, target)
      return
    case 'link':
      linkSync(path, target)
      return
    case 'swap':
      renameSync(path, aside)
      try {
        renameSync(target, path)
        renameSync(aside, target)
      } catch {
        renameSync(aside, path)
      }
      return
  }
}
