import { type HostCallContext, VitrineError } from '@vitrine/protocol'
import type { Daemon } from '../daemon/daemon.ts'
import type { Call } from './call.ts'

/** The sandbox and the journal that a path names. */
export function callTarget(
  { host, defaultSandbox }: Daemon,
  { sandbox: id = defaultSandbox.id }: Readonly<Record<string, string>>,
  context: () => HostCallContext,
): Pick<Call, 'sandbox' | 'journal'> {
  return {
    async sandbox() {
      const called = context()
      const opening = id === defaultSandbox.id ? defaultSandbox.open(called) : host.find(id, called)
      return (await opening).as(called)
    },
    async journal() {
      // Reading does not start the sandbox. Opening a journal for an unknown id would create one, so ids are checked.
      const isKnown =
        id === defaultSandbox.id || host.info(id) !== undefined || (await host.store.journals()).includes(id)
      if (!isKnown) throw new VitrineError('not_found', `There is no sandbox ${id}.`)
      return host.store.journal(id)
    },
  }
}
