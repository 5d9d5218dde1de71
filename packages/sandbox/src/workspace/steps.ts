import { readAllowList } from '@vitrine/egress'
import type { Journal } from '@vitrine/journal'
import type { EngineCore } from '../engine/core.ts'
import type { LocalSandbox } from '../engine/sandbox.ts'
import { clone } from './clone.ts'
import { copyIn, findSource } from './copy-in.ts'
import { accountSteps } from './make-accounts.ts'
import type { WorkspacePlan } from './read-manifest.ts'
import { type Exec, runCommand } from './run-command.ts'
import type { PreparationStep } from './run-steps.ts'

/** The sandbox that a manifest is applied to. */
export interface PreparationTarget {
  readonly sandbox: LocalSandbox
  readonly core: EngineCore
  readonly journal: Journal
}

/** Turns a plan into groups of steps, in order. Every step is one or more operations of the sandbox. */
export function stepsOf(
  plan: WorkspacePlan,
  target: PreparationTarget,
): readonly (readonly PreparationStep[])[] {
  const { sandbox, core } = target
  const { env, egress } = core.settings
  const network = core.files().machine.sharesLoopback ? undefined : readAllowList(egress)
  const exec: Exec = (command, options) => sandbox.exec(command, options)
  const execClone: Exec = (command, options) => sandbox.execWithHostVariables(command, options)
  const one = [
    ...accountSteps(plan, exec),
    ...plan.directories.map((entry) => makeDirectory(entry, target)),
    ...plan.files.map((entry) => writeFile(entry, target)),
    ...plan.copy.map((entry) => copy(entry, target)),
    ...plan.git.map((entry) =>
      step(entry, 'clone', (signal) => clone(execClone, entry, { env, network }, signal)),
    ),
  ].map((each) => [each])
  const commands = plan.setup.map((group) =>
    group.map(({ field, name, run, options }) => ({
      field,
      name,
      run: async (signal: AbortSignal) =>
        (await runCommand(exec, run, { ...options, signal })).exitCode ?? undefined,
    })),
  )
  return [...one, ...commands]
}

function step(
  { field, path }: { readonly field: string; readonly path: string },
  verb: string,
  run: (signal: AbortSignal) => Promise<unknown>,
): PreparationStep {
  return {
    field,
    name: `${verb} ${path.toWellFormed()}`,
    run: async (signal) => {
      await run(signal)
      return undefined
    },
  }
}

function makeDirectory(
  entry: WorkspacePlan['directories'][number],
  { sandbox }: PreparationTarget,
): PreparationStep {
  const { path, mode } = entry
  return step(entry, 'mkdir', (signal) =>
    sandbox.files.mkdir(path, { parents: true, signal, ...(mode !== undefined && { mode }) }),
  )
}

function writeFile(entry: WorkspacePlan['files'][number], { sandbox }: PreparationTarget): PreparationStep {
  const { path, content, mode } = entry
  return step(entry, 'write', (signal) =>
    sandbox.files.write(path, content, { parents: true, signal, ...(mode !== undefined && { mode }) }),
  )
}

function copy(entry: WorkspacePlan['copy'][number], { core, journal }: PreparationTarget): PreparationStep {
  const { field, path, source, ignore } = entry
  return step(entry, 'copy', (signal) => {
    const facts = { path: path.toWellFormed(), source, ...(ignore.length > 0 && { ignore }) }
    const limits = core.settings.archiveLimits
    const run = () =>
      copyIn(core.files().context, findSource(field, source), path, { ignore, limits, signal })
    return journal.operate('copy_in', facts, run, { finish: (copied) => ({ ...copied }), signal })
  })
}
