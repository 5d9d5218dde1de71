import type { SandboxClient } from '@vitrine/protocol'
import {
  inlineSandboxClient,
  inProcessSandboxClient,
  type OpenSandboxRunOptions,
  type SandboxEvent,
  type SandboxEventMeta,
} from '@vitrine/runtime'
import { expectTypeOf, test } from 'vitest'

/** The observer that programs of agent-runtime have. */
type Observer = (
  event: { readonly type: string; readonly data: Record<string, unknown>; readonly id?: string },
  meta: { turnIndex: number; turnKind: 'start' | 'resume'; agentRunName: string },
) => void | PromiseLike<void>

test('an observer with the event and meta of agent-runtime is taken as it is', () => {
  expectTypeOf<Observer>().toExtend<NonNullable<OpenSandboxRunOptions['onSandboxEvent']>>()
  expectTypeOf<OpenSandboxRunOptions['onSandboxEvent']>().toEqualTypeOf<
    ((event: SandboxEvent, meta: SandboxEventMeta) => void | PromiseLike<void>) | undefined
  >()
})

test('in-process and inline clients are sandbox clients without a cast', () => {
  expectTypeOf(inProcessSandboxClient).returns.toExtend<SandboxClient>()
  expectTypeOf(inlineSandboxClient).returns.toExtend<SandboxClient>()
})
