import { burst } from './agents/burst.ts'
import { endings } from './agents/endings.ts'
import { manySessions } from './agents/many-sessions.ts'
import { roundTrip } from './agents/round-trip.ts'
import { crash } from './crash.ts'
import { coldStart } from './daemon/cold-start.ts'
import { health } from './daemon/health.ts'
import { longReads } from './daemon/long-reads.ts'
import { manyStreams } from './daemon/many-streams.ts'
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
import type { Measurement } from './measurement.ts'
import { largeFiles, manyFiles } from './persistence/archive.ts'
import { exec } from './processes/exec.ts'
import { hostKilled } from './processes/host-killed.ts'
import { isolated } from './processes/isolated.ts'
import { output } from './processes/output.ts'
import { timeLimit } from './processes/time-limit.ts'
import { tee } from './runs/tee.ts'
import { echo } from './terminals/echo.ts'
import { flood } from './terminals/flood.ts'
import { idle } from './watching/idle.ts'
import { latency as watchLatency } from './watching/latency.ts'
import { storms } from './watching/storms.ts'

export type Benchmarks = Readonly<Record<string, readonly Measurement[]>>

/** A benchmark is a list of measurements. */
export const benchmarks: Benchmarks = {
  journal: [throughput, latency, operation, trim, replay],
  crash: [crash],
  processes: [exec, isolated, output, timeLimit, hostKilled],
  terminals: [echo, flood],
  isolation: [life, isolated, quickCommands],
  files: [small, large, many],
  watch: [watchLatency, storms, idle],
  persist: [manyFiles, largeFiles],
  agents: [burst, roundTrip, endings, manySessions],
  runs: [tee],
  daemon: [health, longReads, manyStreams, transfers, stalledReaders, coldStart],
}
