import { fileURLToPath } from 'node:url'
import { type OutputOptions, rolldown } from 'rolldown'

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url))

export interface Bundle {
  readonly code: string
  readonly imports: readonly string[]
  /** The files in it. */
  readonly files: readonly string[]
}

/** Bundles the package as a browser would load it: one minified file, in memory. */
export async function bundle(options: OutputOptions): Promise<Bundle> {
  await using build = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  })
  const { output } = await build.generate({ ...options, minify: true })
  const [chunk] = output
  if (output.length !== 1) throw new Error(`Expected one file, got ${output.length}.`)
  const imports = [...chunk.imports, ...chunk.dynamicImports]
  return { code: chunk.code, imports, files: chunk.moduleIds }
}
