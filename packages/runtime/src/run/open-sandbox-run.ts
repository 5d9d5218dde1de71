import { type SandboxClient, VitrineError } from '@vitrine/protocol'
import { checkOptions, runOptions } from '@vitrine/protocol/options'
import { shown } from '@vitrine/protocol/primitives'
import type { Deliverable } from './deliverable.ts'
import type { OpenSandboxRunOptions } from './options.ts'
import { SandboxRun } from './sandbox-run.ts'

/**
 * Opens a run: one sandbox and one session, in which an agent works towards a deliverable over any number of turns. The
 * sandbox is created with the first turn.
 *
 * @example
 * await using run = await openSandboxRun(client, { agentRun }, { kind: 'artifact', path: 'report.md', fromArtifact: String })
 * const { out } = await run.start('Write the report.')
 */
export async function openSandboxRun<Out, Task = string>(
  client: SandboxClient,
  options: OpenSandboxRunOptions<Task>,
  deliverable: Deliverable<Out>,
): Promise<SandboxRun<Out, Task>> {
  if (typeof client?.create !== 'function')
    throw new VitrineError('argument_invalid', `client: expected a SandboxClient, got ${shown(client)}.`)
  checkOptions('openSandboxRun', runOptions.open, options ?? {})
  checkOptions('deliverable', runOptions.deliverable, deliverable ?? {})
  if (options.resumeFrom !== undefined && options.sandbox !== undefined)
    throw new VitrineError(
      'argument_invalid',
      'sandbox: expected none with resumeFrom, whose sandbox exists.',
    )
  return new SandboxRun(client, options, deliverable)
}
