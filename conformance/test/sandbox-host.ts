import { text } from 'node:stream/consumers'
import { createLocalSandbox, local } from '@vitrine/sandbox'

// A host that the kit kills: node sandbox-host.ts <isolation> <data>; reads the commands to spawn from stdin.
const [, , isolation, data = ''] = process.argv
const commands: unknown = JSON.parse(await text(process.stdin))
const sandbox = await createLocalSandbox({
  provider: local({ data, isolation: isolation === 'bubblewrap' ? 'bubblewrap' : 'none' }),
})
for (const command of Array.isArray(commands) ? commands : []) await sandbox.spawn(String(command))
process.stdout.write('ready\n')
setInterval(() => undefined, 1_000)
