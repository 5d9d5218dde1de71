import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeVersionProblem, oldestNode } from '@vitrine/protocol/node-version'
import { root } from './tools.ts'

const packagesForNode = ['archives', 'egress', 'journal', 'sandbox', 'agents', 'host', 'server', 'cli']

/** A sentence for each package whose `engines` say something else than the check of the version. */
export function engineComplaints(): string[] {
  const files = ['package.json', '{conformance,bench}/package.json', '{packages,examples}/*/package.json']
  const expected = `>=${oldestNode}`
  return globSync(files, { cwd: root })
    .filter((file) => JSON.parse(readFileSync(join(root, file), 'utf8')).engines?.node !== expected)
    .map((file) => `${file}: expected engines.node ${expected}.`)
}

/** Whether the built packages and the command name the version that they need when they meet an older Node. */
export function refusesOlderNode(): boolean {
  const older = findOlderNode()
  if (older === undefined) {
    console.warn('SKIPPED: this machine has no Node that is too old.')
    return true
  }
  const { node, problem } = older
  const entries = [...packagesForNode.map((name) => `@vitrine/${name}`), '@vitrine/client/node']
  const failed = entries.filter((name) => {
    const said = run(node, ['--input-type=module', '-e', `import '${name}'`])
    return !said.includes(`Error: ${problem}\n`)
  })
  // The command says it without a stack.
  if (run(node, ['packages/cli/dist/main.js', '--version']) !== `${problem}\n`) failed.push('vitrine')
  for (const name of failed)
    console.error(
      `${name}: expected "${problem}" on ${node}. Does it import a name that only a newer Node has?`,
    )
  return failed.length === 0
}

function findOlderNode(): { readonly node: string; readonly problem: string } | undefined {
  // npm itself runs on the machine's Node.
  const candidates = [process.env.npm_node_execpath, '/usr/bin/node', '/usr/local/bin/node']
  for (const node of candidates) {
    if (node === undefined || !existsSync(node)) continue
    const problem = nodeVersionProblem(run(node, ['--version']).trim())
    if (problem !== undefined) return { node, problem }
  }
  return undefined
}

function run(node: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(node, args, { cwd: root, encoding: 'utf8' })
  return stdout + stderr
}
