/** A run over three turns: an agent makes a page, refines it, and is aborted in the third turn. Then the journal tells the rest. */
import { eventLine, openHost, openSandboxRun, SandboxRunAbortError } from 'vitrine'
import { LiveView } from './live-view.ts'

const [data = 'run-data'] = process.argv.slice(2)

await using host = await openHost({ data })
const view = new LiveView()
const abort = new AbortController()

await using run = await openSandboxRun(
  host,
  {
    agentRun: {
      name: 'baker',
      profile: { agent: 'demo', model: 'sprinter' },
      taskToPrompt: (task: string) => task,
    },
    session: { permissions: 'allow' },
    budget: { turns: 5, wallMs: 600_000 },
    onSandboxEvent(event, { turnIndex }) {
      view.show(event)
      // The third turn runs a command that takes ten minutes. It is aborted as soon as that runs.
      if (turnIndex === 2 && event.type === 'process.started') abort.abort()
    },
  },
  { kind: 'artifact', path: 'index.html', fromArtifact: (html) => html.match(/<(h1|p)>.*?<\/\1>/g) ?? [] },
)

console.log('Turn 1 makes a page.')
const first = await run.start('Make a page for my bakery')
const session = run.sessionId
console.log(`  page  ${first.out.join(`\n${' '.repeat(8)}`)}\n`)

console.log('Turn 2 refines it, in the same sandbox and session.')
const second = await run.resume('Refine the page for my bakery')
console.log(`  page  ${second.out.join(`\n${' '.repeat(8)}`)}`)
console.log(`  same session: ${run.sessionId === session}\n`)

console.log('Turn 3 is aborted half way.')
const task = '/say I check every link of the page.\n/run sleep 600\n/say All links work.'
const error = await run.resume(task, { signal: abort.signal }).catch((thrown: unknown) => thrown)
if (!(error instanceof SandboxRunAbortError) || error.cursor === undefined) throw error
const { name, code, events, usage, cursor } = error
console.log(`  ${name}, ${code}, with the evidence of the turn:`)
console.log(`  events  ${events.length}, the last: ${events.at(-2)?.type}, ${events.at(-1)?.type}`)
console.log(`  usage   ${usage?.totalTokens ?? 'unknown'} tokens`)
console.log(`  cursor  ${cursor}\n`)

const { id } = run.box
await run.close() // records the end of the run and destroys its sandbox; the journal stays

const { journal } = await host.look(id)
console.log('The journal after the cursor:')
for (const event of (await journal.read({ after: cursor })).events)
  console.log(eventLine(event, { width: 100 }))

console.log('\nThe record of the run:')
for (const event of (await journal.read({ types: ['run.*'] })).events)
  console.log(eventLine(event, { width: 100 }))

console.log(`\nSandboxes left: ${(await host.list()).length}`)
