import { fileURLToPath } from 'node:url'
import { type OutputOptions, rolldown } from 'rolldown'

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url))

/** Bundles the package as a browser would load it: one minified file, in memory. */
export async function bundle(options: OutputOptions): Promise<{ code: string; imports: readonly string[] }> {
  await using build = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  })
  const { output } = await build.generate({ ...options, minify: true })
  const [chunk] = output
  if (output.length !== 1) throw new Error(`Expected one file, got ${output.length}.`)
  return { code: chunk.code, imports: [...chunk.imports, ...chunk.dynamicImports] }
}
