import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeVersionProblem, oldestNode } from '@vitrine/protocol/node-version'
import { root } from './tools.ts'

const entriesForNode = [
  '@vitrine/archives',
  '@vitrine/egress',
  '@vitrine/journal',
  '@vitrine/sandbox',
  '@vitrine/agents',
  '@vitrine/host',
  '@vitrine/runtime',
  '@vitrine/server',
  '@vitrine/client/node',
  '@vitrine/cli',
  'vitrine',
]

/** A sentence for each package whose `engines` say something else than the check of the version. */
export function engineComplaints(): string[] {
  const files = ['package.json', '{conformance,bench}/package.json', '{packages,examples}/*/package.json']
  const expected = `>=${oldestNode}`
  return globSync(files, { cwd: root })
    .filter((file) => JSON.parse(readFileSync(join(root, file), 'utf8')).engines?.node !== expected)
    .map((file) => `${file}: expected engines.node ${expected}.`)
}

/** Whether the packages that are installed in `folder`, and the command, name the version that they need on an older Node. */
export function refusesOlderNode(folder: string): boolean {
  const older = findOlderNode()
  if (older === undefined) {
    console.warn('SKIPPED: this machine has no Node that is too old.')
    return true
  }
  const { node, problem } = older
  const refused = run(node, ['--input-type=module', '-e', importsThatThrow(entriesForNode, problem)], folder)
  const failed = entriesForNode.filter((entry) => !refused.split('\n').includes(entry))
  // The command says it without a stack.
  if (run(node, ['node_modules/vitrine/dist/main.js', '--version'], folder) !== `${problem}\n`)
    failed.push('the command vitrine')
  for (const name of failed)
    console.error(
      `${name}: expected "${problem}" on ${node}. Does it import a name that only a newer Node has?`,
    )
  return failed.length === 0
}

/** A program that imports each entry and prints those that throw an error with the message. */
function importsThatThrow(entries: readonly string[], message: string): string {
  return `for (const entry of ${JSON.stringify(entries)}) {
    const thrown = await import(entry).catch((error) => error)
    if (thrown.message === ${JSON.stringify(message)}) console.log(entry)
  }`
}

function findOlderNode(): { readonly node: string; readonly problem: string } | undefined {
  // npm itself runs on the machine's Node.
  const candidates = [process.env.npm_node_execpath, '/usr/bin/node', '/usr/local/bin/node']
  for (const node of candidates) {
    if (node === undefined || !existsSync(node)) continue
    const problem = nodeVersionProblem(run(node, ['--version'], root).trim())
    if (problem !== undefined) return { node, problem }
  }
  return undefined
}

function run(node: string, args: readonly string[], cwd: string): string {
  const { stdout, stderr } = spawnSync(node, args, { cwd, encoding: 'utf8' })
  return stdout + stderr
}
