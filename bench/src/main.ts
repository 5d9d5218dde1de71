import { burst } from './agents/burst.ts'
import { endings } from './agents/endings.ts'
import { manySessions } from './agents/many-sessions.ts'
import { roundTrip } from './agents/round-trip.ts'
import { crash } from './crash.ts'
import { coldStart } from './daemon/cold-start.ts'
import { health } from './daemon/health.ts'
import { stalledReaders } from './daemon/stalled-readers.ts'
import { transfers } from './daemon/transfers.ts'
import { large } from './files/large.ts'
import { many } from './files/many.ts'
import { small } from './files/small.ts'
import { life } from './isolation/life.ts'
import { quickCommands } from './isolation/quick-commands.ts'
import { latency } from './journal/latency.ts'
import { operation } from './journal/operation.ts'
import { replay } from './journal/replay.ts'
import { throughput } from './journal/throughput.ts'
import { trim } from './journal/trim.ts'
import { largeFiles, manyFiles } from './persistence/archive.ts'
import { exec } from './processes/exec.ts'
import { hostKilled } from './processes/host-killed.ts'
import { isolated } from './processes/isolated.ts'
import { output } from './processes/output.ts'
import { timeLimit } from './processes/time-limit.ts'
import { printTable, type Row } from './report.ts'
import { echo } from './terminals/echo.ts'
import { flood } from './terminals/flood.ts'
import { idle } from './watching/idle.ts'
import { latency as watchLatency } from './watching/latency.ts'
import { storms } from './watching/storms.ts'

/** A benchmark is a list of measurements, run one after another so that they do not disturb each other. */
const benchmarks: Record<string, readonly (() => Promise<Row[]>)[]> = {
  journal: [throughput, latency, operation, trim, replay],
  crash: [crash],
  processes: [exec, isolated, output, timeLimit, hostKilled],
  terminals: [echo, flood],
  isolation: [life, isolated, quickCommands],
  files: [small, large, many],
  watch: [watchLatency, storms, idle],
  persist: [manyFiles, largeFiles],
  agents: [burst, roundTrip, endings, manySessions],
  daemon: [health, transfers, stalledReaders, coldStart],
}

const names = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const json = process.argv.includes('--json')
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name))
if (names.length === 0 || unknown.length > 0) {
  console.error(`usage: npm run bench -- <${Object.keys(benchmarks).join(' | ')}> [--json]`)
  process.exit(2)
}

for (const name of names) {
  const rows: Row[] = []
  for (const measure of benchmarks[name]!) {
    if (!json) console.error(`${name}: ${measure.name} …`)
    rows.push(...(await measure()))
  }
  if (json) console.log(JSON.stringify({ benchmark: name, node: process.version, rows }))
  else printTable(name, rows)
}
