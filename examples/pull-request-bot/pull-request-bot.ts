/** An agent changes a repository step by step, with a commit for each. Killed at any point, it goes on when it is run again. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonlSink, openHost } from 'vitrine'

const [data = 'bot-data', agent = 'demo'] = process.argv.slice(2)

/** Each step is one turn of the agent. These prompts are commands of the demo agent: give your agent sentences. */
const steps: Readonly<Record<string, string>> = {
  plan: '/say I make a plan.\n/run echo plan >> work.txt\n/write PLAN.md first code, then tests',
  code: '/say I write the code.\n/run echo code >> work.txt\n/write bake.js export const bread = 1',
  test: '/say I write a test.\n/run echo test >> work.txt\n/write bake.test.js assert(bread)',
}

const audit = { name: 'audit', sink: jsonlSink({ path: join(data, 'audit.jsonl') }) }
await using host = await openHost({ data, sinks: [audit] })
const known = (await host.list()).some(({ id }) => id === 'bot')
const sandbox = known ? await host.attach('bot') : await host.create({ id: 'bot' })
const git = (args: string) => sandbox.exec(`git ${args}`)

// Your own repository instead: `create({ id: 'bot', workspace: { git: { '.': { url } } } })`.
await sandbox.exec('rm -f .git/*.lock .git/refs/heads/*.lock') // a killed git leaves its locks
await git('init -q && git config user.name bot && git config user.email bot@example.org')
if ((await git('rev-parse -q --verify HEAD')).exitCode !== 0) await git('commit -q --allow-empty -m begin')

const session = await sandbox.sessions.resumeOrCreate({
  id: 'pull-request',
  agent,
  permissions: 'allow',
  credentials: agent === 'demo' ? 'none' : 'env',
  env: { VITRINE_DEMO_PACE: '0' },
})

/** One commit of everything that the step changed; none if it was made before. */
async function commit(step: string): Promise<void> {
  const command = `add -A && (git diff --cached --quiet || git commit -q -m ${step})`
  const { exitCode, stderr } = await git(command)
  if (exitCode !== 0) throw new Error(`The step ${step} could not be committed: ${stderr}`)
}

// The last turn says where to go on: a step whose turn did not end well is done again, from a clean state.
const { lastTurn } = session.info
const names = Object.keys(steps)
let next = 0
if (lastTurn !== undefined) {
  const [step = ''] = lastTurn.id.split('.')
  next = names.indexOf(step)
  if (lastTurn.outcome === 'ok') {
    await commit(step) // killed after the turn, before the commit
    next += 1
  } else await git('reset -q --hard && git clean -fdq')
}

for (const step of names.slice(next)) {
  const turn = `${step}.${session.info.turns}` // the same id is the same turn: it never runs twice
  for await (const piece of session.stream(steps[step] ?? '', { turn })) {
    if (piece.type === 'text') process.stdout.write(`${piece.text}\n`)
    if (piece.type === 'fileChange') console.log(`  ${piece.change} ${piece.path}`)
    if (piece.type === 'end' && piece.outcome !== 'ok') throw new Error(`${step}: ${piece.outcome}`)
  }
  await commit(step)
}

const { stdout: patch } = await git('format-patch --stdout $(git rev-list --max-parents=0 HEAD)')
await writeFile(join(data, 'pull-request.patch'), patch)
console.log((await git('log --reverse --format=%s')).stdout)
