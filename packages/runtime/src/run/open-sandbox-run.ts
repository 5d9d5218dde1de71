import type { SandboxClient } from '@vitrine/protocol'
import { checkOptions, runOptions } from '@vitrine/protocol/options'
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
  checkOptions('openSandboxRun', runOptions.open, options)
  checkOptions('deliverable', runOptions.deliverable, deliverable)
  return new SandboxRun(client, options, deliverable)
}
