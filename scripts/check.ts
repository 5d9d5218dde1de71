import { forbiddenArrows, readHouse } from './arrows.ts'
import { build, packageFolders, runTool } from './tools.ts'

/** Everything that can be said about the code without running it. All of it is said before this fails. */
const checks: Record<string, () => boolean> = {
  types: () => runTool('tsc', ['-p', 'tsconfig.json']),
  lint: () => runTool('biome', ['ci', '--error-on-warnings']),
  arrows: () => {
    const { files, dependencies } = readHouse()
    const complaints = forbiddenArrows(files, dependencies)
    for (const complaint of complaints) console.error(complaint)
    return complaints.length === 0
  },
  build,
  unused: () => runTool('knip', []),
  exports: () => packageFolders().every((name) => runTool('publint', [`packages/${name}`, '--strict'])),
}

const failed = Object.entries(checks).filter(([name, check]) => {
  const passed = check()
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name}`)
  return !passed
})
if (failed.length > 0) process.exit(1)
