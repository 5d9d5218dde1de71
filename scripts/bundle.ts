import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

/** Opening hundreds of files is most of what a command waits for when it starts. */
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
    // What several commands need is one file, not one for each of the ways in which they share it.
    codeSplitting: { groups: [{ name: 'common', test: common, minShareCount: 2 }] },
  })
  const main = join(dist, 'main.js')
  writeFileSync(main, withLauncher(readFileSync(main, 'utf8')))
  chmodSync(main, 0o755)
}

/**
 * Under a steady stream of events V8 lets its heap grow by a hundred mebibytes of garbage. A daemon shares its machine
 * with what runs in its sandboxes.
 */
const nodeFlags = ['--max-semi-space-size=4', '--heap-growing-percent=20']

/**
 * Run as a program, the file is a shell script whose second line starts Node on it. To JavaScript that line is a text and
 * a comment. `env -S` would do the same, but BusyBox does not know it.
 */
function withLauncher(code: string): string {
  return code.replace(
    /^#!.*\n/,
    () => `#!/usr/bin/env sh\n':' //; exec node ${nodeFlags.join(' ')} "$0" "$@"\n`,
  )
}

const common =
  /packages.(?:protocol|views|journal|host|cli).|node_modules.(?:zod.v4.(?:core|mini)|picocolors|@opentelemetry)./

/** Code that looks for files of its package still finds them there. */
function resolveFromPackage(packages: string): Plugin {
  return {
    name: 'at-home',
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
 * Node's own modules as they are. Imported, each is given a namespace first, for which everything is loaded that it would
 * load when first asked for: `fetch` with `node:http`, the REPL with `node:fs`. That is about a fifth of a start.
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
