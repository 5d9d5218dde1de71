import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { planRelease, type ReleasePlan } from './plan.ts'

export interface ReleaseOptions {
  readonly root: string
  /** `patch`, `minor`, `major` or a version. */
  readonly wanted: string
  readonly date: string
  /** `plan` changes nothing; `publish` also publishes the packages. */
  readonly mode: 'plan' | 'commit' | 'publish'
  readonly print: (line: string) => void
}

/**
 * Releases the repository: versions, changelog, packed files, commit and tag, in this order. If a step before the tag
 * fails, the tree is as it was.
 */
export async function runRelease({ root, wanted, date, mode, print }: ReleaseOptions): Promise<void> {
  const plan = planRelease(root, wanted, date)
  requireReleasable(root, plan)
  for (const line of describePlan(plan)) print(line)
  if (mode === 'plan') return print('A dry run: nothing was changed.')

  try {
    for (const [path, content] of plan.files) writeFileSync(join(root, path), content)
    await run(root, 'npm', ['run', 'pack'])
    const missing = plan.packs.filter((path) => !existsSync(join(root, path)))
    if (missing.length > 0) throw new Error(`"npm run pack" did not write ${missing.join(', ')}.`)
    git(root, ['commit', '--quiet', '--all', '--message', `Release ${plan.version}`])
  } catch (error) {
    // The tree was clean, so this removes the changes of the release only.
    git(root, ['restore', '--staged', '--worktree', '.'])
    throw error
  }
  git(root, ['tag', '--annotate', plan.tag, '--message', `Vitrine ${plan.version}`])
  print(`Committed and tagged ${plan.tag}. Push both: git push --follow-tags`)
  if (mode === 'publish') return await publish(root, plan)
  print('Then publish, in this order:')
  for (const path of plan.packs) print(`  npm ${publishArguments(path).join(' ')}`)
}

function requireReleasable(root: string, { tag }: ReleasePlan): void {
  const changed = git(root, ['status', '--porcelain'])
  if (changed !== '') throw new Error(`The working tree has changes. Commit or stash them first:\n${changed}`)
  if (git(root, ['tag', '--list', tag]) !== '')
    throw new Error(`The tag ${tag} exists. Release a higher version, or delete it: git tag --delete ${tag}`)
}

function describePlan({ version, tag, files, packs }: ReleasePlan): string[] {
  return [
    `Release ${version}`,
    ...[...files.keys()].map((path) => `  write    ${path}`),
    '  run      npm run pack',
    `  commit   "Release ${version}", with the tag ${tag}`,
    ...packs.map((path) => `  publish  npm ${publishArguments(path).join(' ')}`),
  ]
}

async function publish(root: string, { packs }: ReleasePlan): Promise<void> {
  for (const [index, path] of packs.entries())
    await run(root, 'npm', publishArguments(path)).catch((error: Error) => {
      const left = packs.slice(index).map((one) => `  npm ${publishArguments(one).join(' ')}`)
      throw new Error(`${error.message} These are not published yet:\n${left.join('\n')}`)
    })
}

function publishArguments(path: string): string[] {
  return ['publish', path, '--access', 'public']
}

async function run(root: string, program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  const [status] = await once(child, 'close')
  if (status !== 0) throw new Error(`"${program} ${args.join(' ')}" failed.`)
}

function git(root: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`"git ${args.join(' ')}" failed: ${stderr}`)
  return stdout.trimEnd()
}
