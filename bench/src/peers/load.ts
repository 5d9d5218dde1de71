import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { peersFolder } from './install.ts'

let hooked = false

/** Loads a file of a peer without our `source` condition: some packages export TypeScript under it. */
export async function loadPeer(...path: readonly string[]): Promise<unknown> {
  const folder = join(await peersFolder(), 'node_modules')
  const home = pathToFileURL(`${folder}/`).href
  if (!hooked) {
    hooked = true
    registerHooks({
      resolve: (specifier, context, next) => {
        if (!context.parentURL?.startsWith(home)) return next(specifier, context)
        const conditions = context.conditions.filter((condition) => condition !== 'source')
        return next(specifier, { ...context, conditions })
      },
    })
  }
  return import(pathToFileURL(join(folder, ...path)).href)
}
