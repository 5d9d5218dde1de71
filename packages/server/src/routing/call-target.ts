import { HostLook } from '@vitrine/host'
import { type HostCallContext, isVitrineError, VitrineError } from '@vitrine/protocol'
import type { Daemon } from '../daemon/daemon.ts'
import type { Caller } from '../guard/caller.ts'
import type { Call } from './call.ts'
import { checkAccess } from './check-access.ts'

/**
 * The sandbox and the journal that a path names. A token with read access gets no sandbox, so it starts none. Looking
 * starts none either: a GET that says nothing else.
 */
export function callTarget(
  { host, defaultSandbox }: Daemon,
  params: Readonly<Record<string, string>>,
  context: () => HostCallContext,
  caller: Caller,
  starting: 'on-use' | 'never',
): Pick<Call, 'sandbox' | 'runningSandbox' | 'look' | 'journal'> {
  let named: string | undefined
  // On demand: routes without a sandbox need no search for the default one.
  const idOf = () => {
    named ??= params.sandbox ?? defaultSandbox.id
    return named
  }
  const isNew = (id: string) => id === defaultSandbox.id && host.info(id) === undefined
  return {
    async sandbox() {
      checkAccess({ access: 'full' }, caller)
      const [id, called] = [idOf(), context()]
      if (starting === 'never' && !isNew(id)) return (await host.findStarted(id)).as(called)
      const opening = id === defaultSandbox.id ? defaultSandbox.open(called) : host.find(id, called)
      return (await opening).as(called)
    },
    async runningSandbox() {
      checkAccess({ access: 'full' }, caller)
      const id = idOf()
      if (isNew(id)) return undefined
      try {
        const sandbox = await host.findStarted(id)
        return sandbox.isUp ? sandbox.as(context()) : undefined
      } catch (error) {
        if (isVitrineError(error) && error.code === 'sandbox_not_running') return undefined
        throw error
      }
    },
    async look() {
      const id = idOf()
      // The default sandbox has an id before it is created, and nothing to look at.
      return isNew(id) ? new HostLook(await host.store.journal(id)) : host.look(id)
    },
    async journal() {
      const id = idOf()
      // Reading does not start the sandbox. Opening a journal for an unknown id would create one, so ids are checked.
      const isKnown =
        id === defaultSandbox.id || host.info(id) !== undefined || (await host.store.journals()).includes(id)
      if (!isKnown) throw new VitrineError('not_found', `There is no sandbox ${id}.`)
      return host.store.journal(id)
    },
  }
}
