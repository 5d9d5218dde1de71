import { fstatSync, opendirSync } from 'node:fs'
import { decodePathText } from '@vitrine/protocol/primitives'
import { toBytes } from './directories/exact-text.ts'
import type { Handle } from './directories/handle.ts'

/** A directory up to this size on disk has at most a few thousand names and is read and sorted at once. */
const smallBytes = 128 * 1024
const runLength = 2_048

/**
 * Yields the names of a directory in byte order. A large directory is read and sorted in runs, which are then merged.
 * After each run it yields `undefined`, so that the caller can yield to the event loop.
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
  // Node's types do not allow the encoding 'buffer' here.
  const options = { bufferSize: 512, encoding: 'buffer' as BufferEncoding }
  const reader = opendirSync(directory.self, options)
  try {
    for (let run: string[] = []; ; run = []) {
      let entry = reader.readSync()
      while (entry !== null) {
        run.push(decodePathText(entry.name as unknown as Buffer))
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

/** Whether a name has a code unit from U+D800 on, where the order of UTF-16 differs from that of UTF-8 bytes. */
function isHigh(name: string): boolean {
  return /[\ud800-\uffff]/.test(name)
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(toBytes(a)), Buffer.from(toBytes(b)))
}

function byUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Merges sorted runs with a heap. */
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
