import { chmodSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

/** Bundles the command: opening hundreds of files takes most of its start time. */
export async function bundleCommand(root: string): Promise<void> {
  const dist = join(root, 'packages/cli/dist')
  await using build = await rolldown({
    input: join(dist, 'main.js'),
    platform: 'node',
    plugins: [resolveFromPackage(join(root, 'packages')), plainBuiltins()],
  })
  await build.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: 'bundle/[name]-[hash].js',
    // Modules shared by several commands go into one file, not into one per combination of commands.
    codeSplitting: { groups: [{ name: 'common', test: common, minShareCount: 2 }] },
    // Node reads, decodes and hashes the text at every start: a file without comments and with ASCII only is faster.
    comments: { legal: true, annotation: false, jsdoc: false },
    minify: {
      compress: false,
      mangle: false,
      codegen: { removeWhitespace: false, asciiOnly: true, legalComments: 'inline' },
    },
  })
  chmodSync(join(dist, 'main.js'), 0o755)
}

const common =
  /packages.(?:protocol|views|journal|host|cli).|node_modules.(?:zod.v4.(?:core|mini)|picocolors|@opentelemetry)./

/** Replaces `import.meta.url`, so that bundled code still finds the files of its package. */
function resolveFromPackage(packages: string): Plugin {
  return {
    name: 'resolve-from-package',
    transform: {
      filter: { code: 'import.meta.url' },
      handler(code, id) {
        const [name, dist, ...file] = relative(packages, id).split('/')
        if (dist !== 'dist') return
        const url = `new URL('./${file.join('/')}', import.meta.resolve('@vitrine/${name}')).href`
        return code.replaceAll('import.meta.url', `(${url})`)
      },
    },
  }
}

/**
 * Takes Node's built-in modules from `process.getBuiltinModule`. An import creates a namespace, which loads everything
 * that the module loads lazily: `fetch` with `node:http`, the REPL with `node:fs`. That is about a fifth of the start time.
 */
function plainBuiltins(): Plugin {
  return {
    name: 'plain-builtins',
    renderChunk(code) {
      return code.replace(/^import (.+) from "(node:[^"]+)";$/gm, (_, names: string, module: string) => {
        const taken = names.replace(/^\* as /, '').replaceAll(' as ', ': ')
        return `const ${taken} = process.getBuiltinModule("${module}");`
      })
    },
  }
}
