import { parseArgs } from 'node:util'
import { runRelease } from './release/run-release.ts'
import { root } from './tools.ts'

const usage = 'usage: npm run release -- <patch | minor | major | version> [--dry-run | --publish]'

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, publish: { type: 'boolean' } },
  })
  const [wanted, ...others] = positionals
  if (wanted === undefined || others.length > 0) throw new Error(usage)
  // Without the `--` before it, npm takes the option itself and passes it on as a variable.
  const isDryRun = values['dry-run'] === true || process.env.npm_config_dry_run === 'true'
  const date = new Date().toISOString().slice(0, 10)
  const mode = isDryRun ? 'plan' : values.publish === true ? 'publish' : 'commit'
  await runRelease({ root, wanted, date, mode, print: console.log })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
