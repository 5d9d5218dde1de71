import { parseArgs } from 'node:util'
import type { Size } from './measurement.ts'

export type BenchCommand =
  | { readonly kind: 'help' }
  | { readonly kind: 'list' }
  | { readonly kind: 'wrong'; readonly message: string }
  | {
      readonly kind: 'run'
      readonly names: readonly string[]
      readonly size: Size
      readonly output: 'table' | 'json'
    }

/** Reads the arguments of `npm run bench --`; `known` are the names of the benchmarks. */
export function parseCommand(args: readonly string[], known: readonly string[]): BenchCommand {
  const read = parse(args)
  if ('message' in read) return { kind: 'wrong', message: read.message }
  const { values, positionals: names } = read
  if (values.help) return { kind: 'help' }
  if (names.length === 1 && names[0] === 'list') return { kind: 'list' }
  if (names.length === 0) return { kind: 'wrong', message: 'Expected the name of a benchmark, got none.' }
  const unknown = names.filter((name) => name !== 'all' && !known.includes(name))
  if (unknown.length > 0)
    return {
      kind: 'wrong',
      message: `Unknown benchmark "${unknown.join('", "')}". Known benchmarks: all, ${known.join(', ')}.`,
    }
  return {
    kind: 'run',
    names: names.includes('all') ? known : [...new Set(names)],
    size: values.tiny ? 'tiny' : 'full',
    output: values.json ? 'json' : 'table',
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
        tiny: { type: 'boolean' },
      },
    })
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) }
  }
}

export const help = `usage: npm run bench -- <benchmark …> [--tiny] [--json]

  npm run bench -- list               what is measured, beside what, and with which bars
  npm run bench -- journal            one benchmark
  npm run bench -- agents terminals   several, in one table
  npm run bench -- all                all of them, in one table
  npm run bench -- all --tiny         all of them with tiny sizes: shows that they work; the figures mean nothing
  npm run bench -- daemon --json      a line of JSON for each benchmark

Each measurement runs in its own process with a time limit. The exit code is 1 when a measurement fails or does not end
within its limit, and 0 otherwise, also when a bar does not hold.`
