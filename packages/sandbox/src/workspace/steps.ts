import type { Journal } from '@vitrine/journal'
import type { EngineCore } from '../engine/core.ts'
import type { LocalSandbox } from '../engine/sandbox.ts'
import { clone } from './clone.ts'
import { copyIn, findSource } from './copy-in.ts'
import { accountSteps } from './make-accounts.ts'
import type { Plan } from './read-manifest.ts'
import { type Exec, runCommand } from './run-command.ts'
import type { Step } from './run-steps.ts'

/** What a manifest is applied to. */
export interface Ground {
  readonly sandbox: LocalSandbox
  readonly core: EngineCore
  readonly journal: Journal
}

/** What a plan comes to, in order. Every step is one or more operations of the sandbox. */
export function stepsOf(plan: Plan, ground: Ground): readonly (readonly Step[])[] {
  const { sandbox, core } = ground
  const { env } = core.settings
  const exec: Exec = (command, options) => sandbox.exec(command, options)
  const one = [
    ...accountSteps(plan, exec),
    ...plan.directories.map((entry) => makeDirectory(entry, ground)),
    ...plan.files.map((entry) => writeFile(entry, ground)),
    ...plan.copy.map((entry) => copy(entry, ground)),
    ...plan.git.map((entry) => step(entry, 'clone', (signal) => clone(exec, entry, env, signal))),
  ].map((each) => [each])
  const commands = plan.setup.map((group) =>
    group.map(({ where, name, run, options }) => ({
      where,
      name,
      run: async (signal: AbortSignal) =>
        (await runCommand(exec, run, { ...options, signal })).exitCode ?? undefined,
    })),
  )
  return [...one, ...commands]
}

function step(
  { where, path }: { readonly where: string; readonly path: string },
  verb: string,
  run: (signal: AbortSignal) => Promise<unknown>,
): Step {
  return {
    where,
    name: `${verb} ${path.toWellFormed()}`,
    run: async (signal) => {
      await run(signal)
      return undefined
    },
  }
}

function makeDirectory(entry: Plan['directories'][number], { sandbox }: Ground): Step {
  const { path, mode } = entry
  return step(entry, 'mkdir', (signal) =>
    sandbox.files.mkdir(path, { parents: true, signal, ...(mode !== undefined && { mode }) }),
  )
}

function writeFile(entry: Plan['files'][number], { sandbox }: Ground): Step {
  const { path, content, mode } = entry
  return step(entry, 'write', (signal) =>
    sandbox.files.write(path, content, { parents: true, signal, ...(mode !== undefined && { mode }) }),
  )
}

function copy(entry: Plan['copy'][number], { core, journal }: Ground): Step {
  const { where, path, source, ignore } = entry
  return step(entry, 'copy', (signal) => {
    const facts = { path: path.toWellFormed(), source, ...(ignore.length > 0 && { ignore }) }
    const limits = core.settings.archiveLimits
    const run = () =>
      copyIn(core.files().context, findSource(where, source), path, { ignore, limits, signal })
    return journal.operate('copy_in', facts, run, { finish: (copied) => ({ ...copied }), signal })
  })
}
