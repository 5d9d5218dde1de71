// Runs the programs of a page one after the other in one process, each in its own folder: loading the packages anew for
// each of them would take most of the time. Prints a line after each one, on both streams.
import { pathToFileURL } from 'node:url'

const [, , mark, ...folders] = process.argv
for (const folder of folders) {
  process.chdir(folder)
  let outcome = 'ok'
  try {
    await import(pathToFileURL(`${folder}/block.ts`).href)
  } catch (error) {
    outcome = 'failed'
    console.error(error)
  }
  for (const stream of [process.stdout, process.stderr]) stream.write(`${mark} ${outcome}\n`)
}
