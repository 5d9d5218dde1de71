// Runs one measurement: node measure.ts <catalogue> <benchmark> <measurement> <full | tiny>
import type { Benchmarks } from '../benchmarks.ts'
import type { Size } from '../measurement.ts'
import { reportToParent } from './report-to-parent.ts'

const [catalogue = '', benchmark = '', name = '', size = ''] = process.argv.slice(2)

await reportToParent(async (signal) => {
  const { benchmarks } = (await import(catalogue)) as { readonly benchmarks: Benchmarks }
  const found = benchmarks[benchmark]?.find((one) => one.name === name)
  if (found === undefined) throw new Error(`The benchmark "${benchmark}" has no measurement "${name}".`)
  return found.run(size as Size, signal)
})
