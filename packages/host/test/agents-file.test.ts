import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readAgentsFile } from '../src/agents-file.ts'
import { parseAgent } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

const file = (text: string) => {
  const path = join(dataFolder(), 'agents.json')
  writeFileSync(path, text)
  return path
}

describe('custom agents in a file', () => {
  it('are read without changes', () => {
    const agents = {
      mine: { command: ['node', 'a.mjs'], args: ['-v'], env: { A: '1' }, cwd: 'sub', shared: true },
    }
    expect(readAgentsFile(file(JSON.stringify(agents)))).toEqual([{ name: 'mine', ...agents.mine }])
    expect(readAgentsFile('/nowhere/agents.json')).toEqual([])
  })

  it.each([
    ['not JSON', '{', 'it is not JSON'],
    ['a list', '[]', 'agents: expected an object, got an array'],
    ['no command', '{"a":{}}', 'agents.a.command: expected a string or an array, got nothing'],
    ['an empty command', '{"a":{"command":[]}}', 'a.command'],
    [
      'an unknown setting',
      '{"a":{"command":"x","comand":"y"}}',
      'agents.a: unknown key "comand"; did you mean "command"?',
    ],
    [
      'a bad name',
      '{"a b":{"command":"x"}}',
      'agents["a b"]: expected a name of letters, digits, "_", "." and "-", 64 at most, got "a b"',
    ],
    [
      'a bad environment',
      '{"a":{"command":"x","env":{"A":1}}}',
      'agents.a.env.A: expected a string, got a number',
    ],
    ['bad arguments', '{"a":{"command":"x","args":"-v"}}', 'agents.a.args: expected an array, got a string'],
  ])('are refused with the reason: %s', (_name, text, message) => {
    const path = file(text)
    expect(() => readAgentsFile(path)).toThrow(message)
    expect(() => readAgentsFile(path)).toThrow(path)
  })

  it('are listed after those of the code, which replace entries of the same name', async () => {
    const data = dataFolder()
    writeFileSync(join(data, 'agents.json'), '{"mine":{"command":"a"},"other":{"command":"b"}}')
    const host = await open(data, { agents: [{ name: 'mine', onPrompt: () => 'in code' }] })
    const [first, second] = await host.listAgents()
    expect([first, second]).toMatchObject([
      { name: 'mine', from: 'function' },
      { name: 'other', from: 'command' },
    ])
  })
})

describe('an agent on the command line', () => {
  it('is a name and a command', () => {
    expect(parseAgent("mine=node agent.mjs --flag='a=b'")).toEqual({
      name: 'mine',
      command: "node agent.mjs --flag='a=b'",
    })
  })

  it.each(['mine', '=node', 'mine=', 'a b=c'])('is refused: %s', (text) => {
    expect(() => parseAgent(text)).toThrow('--agent: expected')
  })
})
