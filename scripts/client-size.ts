import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { root } from './tools.ts'

/** The maximum gzipped size of the client bundle that a page loads. */
const maxGzipBytes = 40_000

/** Whether the gzipped client is within its size limit. */
export async function isClientSmall(): Promise<boolean> {
  await using build = await rolldown({
    input: join(root, 'packages/client/src/index.ts'),
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  })
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false })
  const code = output.map((part) => (part.type === 'chunk' ? part.code : '')).join('')
  const bytes = gzipSync(code).byteLength
  console.log(`The client takes ${bytes} bytes gzipped; the limit is ${maxGzipBytes}.`)
  return bytes <= maxGzipBytes
}
