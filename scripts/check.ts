import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '@vitrine/protocol'
import { folderCycles, forbiddenArrows, readRepo } from './arrows.ts'
import { isClientSmall } from './client-size.ts'
import { documentTypeComplaints } from './document-types.ts'
import { freshOpenApi, openApiFile } from './openapi.ts'
import { formComplaints, schemaComplaints } from './openapi-contract.ts'
import { contentComplaints } from './packs/content-complaints.ts'
import { packPackages } from './packs/pack-packages.ts'
import { worksPacked } from './packs/try-packed.ts'
import { build, packageFolders, root, runTool } from './tools.ts'
import { commandWorks } from './try-command.ts'
import { engineComplaints } from './try-older-node.ts'
import { wordComplaints } from './words.ts'

/** Prints the complaints; returns whether there are none. */
function report(complaints: readonly string[]): boolean {
  for (const complaint of complaints) console.error(complaint)
  return complaints.length === 0
}

/** The static checks. All of them run and report before the script fails. */
const checks: Record<string, () => boolean | Promise<boolean>> = {
  types: () => runTool('tsc', ['-p', 'tsconfig.json']),
  lint: () => runTool('biome', ['ci', '--error-on-warnings']),
  arrows: () => {
    const { files, dependencies } = readRepo()
    return report([...forbiddenArrows(files, dependencies), ...folderCycles(files)])
  },
  words: () => report(wordComplaints()),
  documents: () => report(documentTypeComplaints()),
  build,
  built: () => commandWorks(join(root, 'packages/cli/dist/main.js')),
  engines: () => report(engineComplaints()),
  openapi: async () => {
    const document = readFileSync(openApiFile, 'utf8')
    const content = JSON.parse(document)
    const complaints = [...(await formComplaints(content)), ...schemaComplaints(content)]
    if (document !== freshOpenApi())
      complaints.push(`${openApiFile} does not match the routes: run "npm run build".`)
    return report(complaints)
  },
  size: isClientSmall,
  version: () => {
    const others = packageFolders().filter((name) => {
      const about = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
      return about.version !== version
    })
    return report(others.map((name) => `packages/${name}/package.json: expected version ${version}.`))
  },
  unused: () => runTool('knip', []),
  packages: async () => {
    const packed = packPackages()
    const areComplete = report(packed.flatMap(contentComplaints))
    const areWellFormed = packed.every(({ path }) => runTool('publint', ['run', path, '--strict']))
    return areComplete && areWellFormed && (await worksPacked(packed))
  },
}

let failed = false
for (const [name, check] of Object.entries(checks)) {
  const passed = await check()
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}`)
  failed ||= !passed
}
if (failed) process.exit(1)
