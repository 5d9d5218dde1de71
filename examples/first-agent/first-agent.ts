/** Lets an agent work in a sandbox, then shows what it said, what it did and which files it changed. */
import {
  changedFilesView,
  createSandbox,
  type JournalItem,
  listChangedFiles,
  listTranscript,
  rebuild,
  transcriptView,
} from 'vitrine'

const [agent = 'demo', prompt = 'Make a page for my bakery'] = process.argv.slice(2)

await using sandbox = await createSandbox({ onInstall: ({ message }) => console.error(message) })
const credentials = agent === 'demo' ? 'none' : 'env'
const session = await sandbox.openSession({ agent, credentials, permissions: 'allow' })
const { outcome, stopReason } = await session.prompt(prompt)

// The journal has every event; the output below consists of views of it.
const events: JournalItem[] = []
for await (const event of session.events()) {
  events.push(event)
  if (event.type === 'turn.finished') break
}

for (const entry of listTranscript(rebuild(transcriptView(), events))) {
  if (entry.kind === 'message') console.log(`${entry.role}: ${entry.text}\n`)
  if (entry.kind === 'toolCall') console.log(`  [${entry.status}] ${entry.title ?? entry.toolKind}\n`)
}
console.log(`The turn ended: ${outcome}, ${stopReason}. Changed files:`)
for (const { change, path } of listChangedFiles(rebuild(changedFilesView, events)))
  console.log(`  ${change} ${path}`)
