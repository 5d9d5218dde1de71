import { readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The resources of a process, and its files on disk, after rounds of work. */
export interface Remains {
  readonly rounds: number
  /** Watched objects that the garbage collector could not free. */
  readonly alive: number
  readonly heapBytes: number
  readonly descriptors: number
  readonly directories: number
  /** Processes that run in the directories of the rounds. */
  readonly processes: number
}

/** `prefix` begins the names of all directories of the rounds. Needs `--expose-gc`. */
export async function remainsAfter(
  rounds: number,
  watched: readonly WeakRef<object>[],
  prefix: string,
): Promise<Remains> {
  // Several times: finalizers and the promises of closed handles settle in between.
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    globalThis.gc?.()
  }
  return {
    rounds,
    alive: watched.filter((object) => object.deref() !== undefined).length,
    heapBytes: process.memoryUsage().heapUsed,
    descriptors: readdirSync('/proc/self/fd').length,
    directories: directoriesOf(prefix),
    processes: processesIn(prefix),
  }
}

export function print(line: Remains): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** The temporary directories, and the directories of sandboxes in them. */
function directoriesOf(prefix: string): number {
  const found = readdirSync('/var/tmp').filter((name) => name.startsWith(prefix))
  const ofSandboxes = found.map((name) => entriesOf(`/var/tmp/${name}/sandboxes`).length)
  return found.length + ofSandboxes.reduce((sum, count) => sum + count, 0) + entriesOf(tmpdir()).length
}

function processesIn(prefix: string): number {
  return entriesOf('/proc').filter((pid) => workingDirectory(pid)?.startsWith(`/var/tmp/${prefix}`)).length
}

function workingDirectory(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // No process, one of another user, or one that has ended.
    return undefined
  }
}

function entriesOf(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
