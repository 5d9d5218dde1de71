/** Runs the agent in a sandbox and prints what it says. */
import { fileURLToPath } from 'node:url'
import { createSandbox, local } from '@vitrine/host'

const [prompt = 'one two three'] = process.argv.slice(2)
const folder = fileURLToPath(new URL('.', import.meta.url))
await using sandbox = await createSandbox({
  provider: local({ binds: [{ source: folder }] }), // an isolated sandbox sees the folder, read-only
  agents: [{ name: 'words', command: ['/usr/bin/python3', `${folder}agent.py`] }],
})
const session = await sandbox.openSession({ agent: 'words' })
for await (const piece of session.stream(prompt)) {
  if (piece.type === 'text') process.stdout.write(piece.text)
}
