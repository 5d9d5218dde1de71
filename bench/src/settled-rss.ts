import { collectGarbage } from './collect-garbage.ts'

/** The resident memory of this process after garbage collections. */
export async function settledRss(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage.rss()
}
