import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, rolldown } from 'rolldown'
import { expect, it, onTestFinished } from 'vitest'

const temporary = fileURLToPath(new URL('../../../.tmp/', import.meta.url))

/** Bundles a page for browsers, in a folder inside the repository, so that packages resolve. */
async function bundlePage(code: string): Promise<OutputChunk> {
  await mkdir(temporary, { recursive: true })
  const folder = await mkdtemp(join(temporary, 'page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const input = join(folder, 'page.js')
  await writeFile(input, code)
  await using build = await rolldown({
    input,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  return output[0]
}

it.each(['vitrine', 'vitrine/client'])(
  'gives a page that imports %s the client, without an import of Node or any other module',
  async (entry) => {
    const page = await bundlePage(`import { connect } from '${entry}'\nconnect({ url: location.origin })\n`)
    expect([...page.imports, ...page.dynamicImports]).toEqual([])
    expect(page.code).not.toMatch(/["'`]node:/)
  },
)

it('has no host in a page: a bundler refuses the import', async () => {
  const page = bundlePage(`import { openHost } from 'vitrine'\nopenHost()\n`)
  await expect(page).rejects.toThrow(/"openHost" is not exported by .*client\.ts/)
})
