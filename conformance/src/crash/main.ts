import { parseArgs } from 'node:util'
import { crashTest } from './run.ts'

// node --conditions=source conformance/src/crash/main.ts --times 200 [--seed 7]

const { values } = parseArgs({
  options: { times: { type: 'string', default: '200' }, seed: { type: 'string' } },
})
const times = Number(values.times)
const startedAt = performance.now()

const report = await crashTest({
  times,
  ...(values.seed !== undefined && { seed: Number(values.seed) }),
  onProgress({ round, events, violations }) {
    for (const violation of violations) process.stderr.write(`round ${round}: ${violation}\n`)
    if (round % 10 === 0) process.stderr.write(`${round} of ${times}: ${events} events in this store\n`)
  },
})

const { rounds, kills, events, reports, seenOutside, recoveries, violations, seed } = report
const seconds = Math.round((performance.now() - startedAt) / 1_000)
process.stdout.write(
  `crash test: ${rounds} rounds, ${kills} kills, ${events} events, ${reports} reports, ${seenOutside} events seen by an outside reader, ` +
    `${recoveries} recoveries, ${violations.length} violations, seed ${seed}, ${seconds} s\n`,
)
if (violations.length > 0) process.exitCode = 1
