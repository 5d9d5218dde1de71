import { fstatSync, opendirSync } from 'node:fs'
import { fromBytes, toBytes } from '../files/exact-text.ts'
import type { Handle } from '../files/handle.ts'

/** A directory of this size on disk holds some thousand names, and is read and sorted in one go. */
const smallBytes = 128 * 1024
const runLength = 2_048

/**
 * The names of a directory in the order of their bytes. A huge one takes a while, so it is read and sorted in runs
 * which are then merged: `undefined` is a moment to rest in.
 */
export function* orderedNames(directory: Handle): Generator<string | undefined> {
  if (fstatSync(directory.fd).size <= smallBytes) {
    yield* sorted(directory.names())
    return
  }
  const runs: string[][] = []
  for (const run of readRuns(directory)) {
    runs.push(sorted(run))
    yield undefined
  }
  yield* merged(runs)
}

function* readRuns(directory: Handle): Generator<string[]> {
  // Node's types know names of a directory as texts only.
  const options = { bufferSize: 512, encoding: 'buffer' as BufferEncoding }
  const reader = opendirSync(directory.self, options)
  try {
    for (let run: string[] = []; ; run = []) {
      let entry = reader.readSync()
      while (entry !== null) {
        run.push(fromBytes(entry.name as unknown as Buffer))
        entry = run.length < runLength ? reader.readSync() : null
      }
      if (run.length > 0) yield run
      if (run.length < runLength) return
    }
  } finally {
    reader.closeSync()
  }
}

function sorted(names: string[]): string[] {
  return names.some(isHigh) ? names.sort(byBytes) : names.sort()
}

/** From there on the order of UTF-16 is not that of bytes. */
function isHigh(name: string): boolean {
  return /[\ud800-\uffff]/.test(name)
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(toBytes(a)), Buffer.from(toBytes(b)))
}

function byUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Takes the least of the first names again and again, by a heap of the runs. */
function* merged(runs: readonly string[][]): Generator<string> {
  const compare = runs.some((run) => run.some(isHigh)) ? byBytes : byUnits
  const heap = runs.map((names) => ({ names, at: 0 }))
  const first = (index: number) => heap[index]!.names[heap[index]!.at]!
  const sink = (start: number) => {
    for (let parent = start; ; ) {
      let least = parent
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < heap.length && compare(first(child), first(least)) < 0) least = child
      if (least === parent) return
      const moved = heap[parent]!
      heap[parent] = heap[least]!
      heap[least] = moved
      parent = least
    }
  }
  for (let start = heap.length >> 1; start >= 0; start -= 1) if (start < heap.length) sink(start)
  while (heap.length > 0) {
    const least = heap[0]!
    yield least.names[least.at]!
    least.at += 1
    if (least.at === least.names.length) {
      const last = heap.pop()!
      if (last === least) continue
      heap[0] = last
    }
    sink(0)
  }
}
