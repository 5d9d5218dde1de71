import { benchmarks } from './benchmarks.ts'
import { help, parseCommand } from './command.ts'
import { listing, table } from './report.ts'
import { type MeasurementOutcome, runBenchmarks } from './running/run-benchmarks.ts'

const command = parseCommand(process.argv.slice(2), Object.keys(benchmarks))
switch (command.kind) {
  case 'help':
    console.log(help)
    break
  case 'list':
    console.log(listing(benchmarks))
    break
  case 'wrong':
    console.error(`${command.message}\n\n${help}`)
    process.exitCode = 2
    break
  case 'run':
    process.exitCode = await run(command)
}

async function run({ names, size, output }: Extract<typeof command, { kind: 'run' }>): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => interrupted.abort())
  const outcomes: MeasurementOutcome[] = []
  const running = runBenchmarks({
    catalogue: new URL('./benchmarks.ts', import.meta.url),
    benchmarks,
    names,
    size,
    signal: interrupted.signal,
    onStart: (benchmark, measurement) => console.error(`${benchmark}: ${measurement} …`),
  })
  for await (const outcome of running) {
    if (outcome.failure !== undefined) console.error(outcome.failure)
    outcomes.push(outcome)
  }
  if (output === 'table') console.log(table(outcomes, size))
  else
    for (const name of names) {
      const own = outcomes.filter(({ benchmark }) => benchmark === name)
      console.log(JSON.stringify({ benchmark: name, size, node: process.version, measurements: own }))
    }
  return interrupted.signal.aborted || outcomes.some(({ failure }) => failure !== undefined) ? 1 : 0
}
