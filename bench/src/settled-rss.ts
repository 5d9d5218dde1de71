import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The resident memory of this process after garbage collections. */
export async function settledRss(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let round = 0; round < 3; round += 1) {
    collect()
    await sleep(100)
  }
  return process.memoryUsage.rss()
}
