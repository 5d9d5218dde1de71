import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import type { McpServer } from '../sandbox/sessions.ts'
import { isTraceparent } from '../traceparent.ts'
import { lifeTimes } from './life-times.ts'
import { strict } from './strict.ts'
import { callable, flag, isObject, milliseconds, signal, text, whole } from './values.ts'

/** Checked by the calls that they are given to. */
const object = () => z.custom<object>(isObject, 'expected an object')

const profile = () =>
  strict({
    name: z.optional(text()),
    agent: text(),
    model: z.optional(text()),
    mode: z.optional(text()),
    thoughtLevel: z.optional(text()),
    instructions: z.optional(text()),
    mcpServers: z.optional(z.custom<readonly McpServer[]>(Array.isArray, 'expected an array of MCP servers')),
  })

const amount = () => z.number().check(z.gte(0, 'expected a number from 0'))

export const runOptions = lazily({
  open: () =>
    strict({
      agentRun: strict({
        name: text(),
        profile: profile(),
        taskToPrompt: callable(),
        prepareBox: z.optional(callable()),
      }),
      signal: z.optional(signal()),
      runId: z.optional(text()),
      hooks: z.optional(strict({ onEvent: z.optional(callable()), onHookError: z.optional(callable()) })),
      budget: z.optional(
        strict({
          turns: z.optional(whole()),
          wallMs: z.optional(milliseconds()),
          tokens: z.optional(whole()),
          cost: z.optional(amount()),
          outputBytes: z.optional(whole()),
          processes: z.optional(whole()),
        }),
      ),
      promptOptions: z.optional(
        strict({
          actor: z.optional(text()),
          traceparent: z.optional(
            z.string().check(z.refine(isTraceparent, 'expected the form of W3C Trace Context')),
          ),
        }),
      ),
      sandbox: z.optional(object()),
      session: z.optional(object()),
      resumeFrom: z.optional(strict({ sandboxId: text(), sessionId: text() })),
      beforeStart: z.optional(callable()),
      onSandboxEvent: z.optional(callable()),
      maxArtifactBytes: z.optional(whole(1)),
      maxEvents: z.optional(whole(1)),
      readRetryDelayMs: z.optional(milliseconds(0)),
    }),
  deliverable: () =>
    z.union([
      strict({ kind: z.literal('events'), fromEvents: callable() }),
      strict({ kind: z.literal('artifact'), path: text(), fromArtifact: callable() }),
    ]),
  turn: () => strict({ signal: z.optional(signal()) }),
  defineSandbox: () =>
    strict({
      id: text(),
      provider: object(),
      workspace: z.optional(object()),
      policy: z.optional(object()),
      lifecycle: z.optional(strict({ reuse: z.optional(z.enum(['thread', 'none'])), ...lifeTimes() })),
      hooks: z.optional(
        strict({
          onFile: z.optional(callable()),
          onFileCreate: z.optional(callable()),
          onFileChange: z.optional(callable()),
          onFileDelete: z.optional(callable()),
          onFileMove: z.optional(callable()),
          onReady: z.optional(callable()),
          onError: z.optional(callable()),
          onDestroy: z.optional(callable()),
        }),
      ),
      fileEvents: z.optional(flag()),
      requireTenant: z.optional(flag()),
      sandbox: z.optional(object()),
    }),
  ensure: () =>
    strict({
      threadId: text(),
      runId: text(),
      tenant: z.optional(
        z.union([z.string(), strict({ userId: z.optional(z.string()), orgId: z.optional(z.string()) })]),
      ),
      signal: z.optional(signal()),
    }),
  watchWorkspace: () =>
    strict({
      onEvent: callable(),
      ignore: z.optional(z.array(text())),
      onError: z.optional(callable()),
      signal: z.optional(signal()),
    }),
  observeEvents: () => strict({ buffer: z.optional(whole(1)), onOverflow: z.optional(callable()) }),
})
