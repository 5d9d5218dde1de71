import { version } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { vitrine } from './vitrine-process.ts'

it('prints the version, lists the commands in its help, and names an unknown command', async () => {
  const run = async (...args: string[]) => {
    const command = vitrine(args)
    return { ...(await command.exit()), stdout: command.stdout, stderr: command.stderr }
  }
  expect((await run('--version')).stdout).toBe(`${version}\n`)
  const { stdout: help } = await run('--help')
  for (const name of ['up', 'serve', 'events', 'ask', 'agents'])
    expect(help).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  const unknown = await run('srve')
  expect(unknown.code).not.toBe(0)
  expect(unknown.stderr).toContain("unknown command 'srve'")
})
