import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as expected from '../../conformance/agents/expected.ts'

const page = readFileSync(new URL('../transcript.md', import.meta.url), 'utf8')

const toolCallStart = {
  first: 'tool_call',
  late: 'tool_call_update',
  never: 'session/request_permission',
} as const

function rowOf(agent: expected.ExpectedBehaviour): string[] {
  const { permissions, mode, toolCall, reports, leavesOpen, modelErrors } = agent
  const errors = new Set(Object.values(modelErrors).map((error) => `\`${error}\``))
  return [
    `\`${agent.agent}\``,
    permissions === undefined ? 'never' : mode === undefined ? 'yes' : `in mode \`${mode}\``,
    `\`${toolCallStart[toolCall]}\``,
    reports.usage ? 'yes' : 'no',
    reports.context ? 'yes' : 'no',
    leavesOpen.join(', ') || '–',
    [...errors].join(', '),
  ]
}

it('the table of agents is what the tests with the real agents expect', () => {
  const [, section = ''] = page.split('\n## Per agent\n')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const cells = rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
  const agents = Object.values(expected).toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  expect(cells).toEqual(agents.map(rowOf))
})
