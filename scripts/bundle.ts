import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
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
  })
  const main = join(dist, 'main.js')
  writeFileSync(main, withLauncher(readFileSync(main, 'utf8')))
  chmodSync(main, 0o755)
}

/**
 * Limits the heap: under a steady stream of events V8 lets it grow by a hundred mebibytes of garbage, and a daemon shares
 * the machine with its sandboxes.
 */
const nodeFlags = ['--max-semi-space-size=4', '--heap-growing-percent=20']

/**
 * Makes the file executable as a shell script whose second line starts Node on it. In JavaScript that line is a string
 * and a comment. `env -S` would do the same, but BusyBox does not support it.
 */
function withLauncher(code: string): string {
  return code.replace(
    /^#!.*\n/,
    () => `#!/usr/bin/env sh\n':' //; exec node ${nodeFlags.join(' ')} "$0" "$@"\n`,
  )
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
