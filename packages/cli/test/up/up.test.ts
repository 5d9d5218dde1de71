import { expect, it } from 'vitest'
import { dataFolder, vitrine } from '../vitrine-process.ts'

const pace = { env: { VITRINE_DEMO_PACE: '0' } }

it('prints one link, isolation, data directory, agents and what to do next, and runs the demo agent', async () => {
  const data = dataFolder()
  const run = vitrine(['up', '--port', '0', '--data', data], pace)
  const [, url, token] = await run.says(
    /^(http:\/\/127\.0\.0\.1:\d+)\/ui\/#token=(\S+)\n(?:.*\n)+.*Ctrl-C stops it.*\n$/,
  )
  expect(run.stdout.match(/http:/g)).toHaveLength(1)
  expect(run.stdout).toMatch(/^ {2}isolation {2}(bubblewrap|none.*)$/m)
  expect(run.stdout).toContain(`  data       ${data}\n`)
  expect(run.stdout).toMatch(/^ {2}agents {5}.*demo.*$/m)
  expect(run.stdout).toContain('Open the link')
  expect((await fetch(`${url}/ui/`)).status).toBe(200)
  const stream = await fetch(`${url}/v1/events?types=turn.*,file.created`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  })
  let text = ''
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('"turn.finished"')) break
  }
  expect(text).toContain('"turn.started"')
  expect(text).toContain('index.html')
  expect(/"type":"turn\.finished".*"outcome":"ok"/.test(text)).toBe(true)
  run.signal('SIGINT')
  expect(await run.exit()).toEqual({ code: 0, signal: null })
  expect(run.stderr).toBe('')
})

it('prints the link of a daemon that already runs', async () => {
  const data = dataFolder()
  const first = vitrine(['up', '--port', '0', '--data', data], pace)
  const [, link] = await first.says(/^(\S+)\n/)
  const second = vitrine(['up', '--data', data], pace)
  expect(await second.exit()).toEqual({ code: 0, signal: null })
  expect(second.stdout).toMatch(/^(\S+)\nThe daemon already runs/)
  expect(second.stdout.split('\n')[0]).toBe(link)
})

it('prints help with examples', async () => {
  const run = vitrine(['up', '--help'])
  await run.exit()
  expect(run.stdout).toContain('Examples:\n  $ vitrine up')
})
