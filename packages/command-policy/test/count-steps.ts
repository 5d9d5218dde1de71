// Judges each text that it receives and responds with the number of executed blocks of the policy. A separate process:
// V8 counts block by block only in code that it has not compiled before.
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
const { commandPolicy } = await import('../src/command-policy.ts')
const { judge } = await import('../src/judge.ts')
const policy = commandPolicy({ allow: ['*'], deny: ['rm -rf *'], otherwise: 'allow' })

async function stepsSinceLast(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.includes('/command-policy/src/'))
    .flatMap(({ functions }) => functions)
    .flatMap(({ ranges }) => ranges)
    .reduce((sum, { count }) => sum + count, 0)
}

process.on('message', async (text: string) => {
  await stepsSinceLast()
  judge(policy, text)
  judge(policy, `rm ${text}`)
  judge(policy, text.split(' '))
  process.send?.(await stepsSinceLast())
})
process.send?.('ready')
