import { expect, it } from 'vitest'
import { dataFolder, exec, serve, vitrine } from '../vitrine-process.ts'

it('prints past and new events until Ctrl-C', async () => {
  const daemon = await serve(dataFolder())
  await exec(daemon, 'echo one')
  const run = vitrine(['events', 'tail', '--data', daemon.data])
  await run.says(/operation\.started +exec {2}\S* ?.*echo one/)
  await exec(daemon, 'echo two')
  await run.says(/operation\.started +exec {2}\S* ?.*echo two/)
  expect(run.stdout).not.toContain('host.started')
  run.signal('SIGINT')
  expect(await run.exit()).toEqual({ code: 0, signal: null })
  expect(run.stderr).toBe('')
  expect(run.stdout).not.toContain(daemon.token)
})

it('prints the events of the whole host as JSON with a read token and a URL', async () => {
  const daemon = await serve(dataFolder(), ['--read-token', 'look-but-not-touch'])
  await exec(daemon, 'printf "\\302\\233 \\342\\200\\256"')
  const env = { VITRINE_TOKEN: 'look-but-not-touch' }
  const run = vitrine(['events', 'tail', '--url', daemon.url, '--all', '--json'], { env })
  await run.says(/"operation\.finished".*"op":"exec".*\n/)
  const events = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events[0]).toMatchObject({ journal: 'host', seq: 1, type: 'host.started' })
  expect(events.at(-1)).toMatchObject({ type: 'operation.finished' })
  expect(run.stdout).not.toMatch(/[\u0080-\u009f\u202e]/)
  expect(JSON.stringify(events)).toContain('\u202e')
})

it('prints only events that match --types and --text', async () => {
  const daemon = await serve(dataFolder())
  await exec(daemon, 'echo needle')
  const run = vitrine([
    'events',
    'tail',
    '--data',
    daemon.data,
    '--types',
    'operation.*',
    '--text',
    'needle',
    '--json',
  ])
  await run.says(/needle/)
  const [first] = run.stdout.split('\n')
  expect(JSON.parse(first!)).toMatchObject({ type: 'operation.started', data: { op: 'exec' } })
})

it('continues after the daemon restarts', async () => {
  const data = dataFolder()
  const daemon = await serve(data, ['--token', 'the-same-token'])
  const run = vitrine(['events', 'tail', '--data', data, '--all'])
  await run.says(/host\.started/)
  await daemon.process.end()
  const port = new URL(daemon.url).port
  const next = await serve(data, ['--token', 'the-same-token', '--port', port])
  await exec(next, 'echo again')
  await run.says(/echo again/)
  expect(run.stdout.match(/host\.started/g)?.length).toBe(2)
})

async function failure(...args: string[]): Promise<string> {
  const run = vitrine(['events', 'tail', ...args])
  expect(await run.exit()).toEqual({ code: 1, signal: null })
  return run.stderr
}

it('explains how to start a daemon when none runs', async () => {
  const data = dataFolder()
  expect(await failure('--data', data)).toContain(`No daemon runs on ${data}. Start one with "vitrine serve"`)
  const { url, process } = await serve(data)
  process.signal('SIGKILL')
  await process.exit()
  expect(await failure('--data', data)).toContain('No daemon runs on')
  expect(await failure('--url', url)).toContain(`No daemon responds at ${url}`)
})

it('reports a wrong token, an unknown sandbox and flags that exclude each other', async () => {
  const { data } = await serve(dataFolder())
  expect(await failure('--data', data, '--token', 'not-the-token')).toContain('token_invalid')
  expect(await failure('--data', data, '--sandbox', 'nobody')).toContain('There is no sandbox nobody')
  expect(await failure('--data', data, '--sandbox', 'default', '--all')).toContain(
    '--sandbox and --all exclude each other',
  )
})

it('prints help with examples', async () => {
  const run = vitrine(['events', 'tail', '--help'])
  await run.exit()
  expect(run.stdout).toContain('Examples:\n  $ vitrine events tail')
})
