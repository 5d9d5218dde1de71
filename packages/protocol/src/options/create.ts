import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import type { WorkspaceManifest } from '../sandbox/manifest.ts'
import type { CommandPolicyOptions } from '../sandbox/policy.ts'
import { lifeTimes } from './life-times.ts'
import { limits, localOptions } from './local.ts'
import { manifestOptions } from './manifest.ts'
import { policyOptions } from './policy.ts'
import { strict } from './strict.ts'
import {
  callable,
  isObject,
  jsonObject,
  optionally,
  signal,
  text,
  texts,
  textsByName,
  variables,
} from './values.ts'

/** Labels with this prefix are set by Vitrine only. */
const reservedLabels = 'vitrine.'

const labels = () =>
  z.record(
    z
      .string()
      .check(
        z.refine<string>(
          (name) => !name.startsWith(reservedLabels),
          `expected a label that does not begin with "${reservedLabels}", which is reserved`,
        ),
      ),
    z.string(),
  )

/** Any value here: the engine checks it with `manifestOptions.manifest`. */
const workspace = () => z.custom<WorkspaceManifest>(() => true)

/** Rules, or the value that `commandPolicy` returns: the host tells them apart. */
export const policy = () =>
  z.custom<CommandPolicyOptions | object>(isObject, 'expected an object of rules, or `commandPolicy({ … })`')

/** The values whose form differs between a call in this process and JSON. */
interface Forms<Env extends z.ZodMiniType, Workspace extends z.ZodMiniType, Policy extends z.ZodMiniType> {
  readonly env: Env
  readonly workspace: Workspace
  readonly policy: Policy
}

/** The options that every way of creating a sandbox has. */
const sharedFields = <
  Env extends z.ZodMiniType,
  Workspace extends z.ZodMiniType,
  Policy extends z.ZodMiniType,
>(
  forms: Forms<Env, Workspace, Policy>,
) => ({
  id: z.optional(z.string()),
  spec: z.optional(jsonObject),
  image: z.optional(text()),
  workspace: z.optional(forms.workspace),
  policy: z.optional(forms.policy),
  egress: z.optional(texts()),
  limits: optionally(limits),
  env: z.optional(forms.env),
  secrets: z.optional(textsByName()),
  labels: optionally(labels),
  ...lifeTimes(),
})

/** The options of a creation in this process, apart from its provider. */
export const createFields = () => ({
  ...sharedFields({ env: variables(), workspace: workspace(), policy: policy() }),
  onAsk: z.optional(callable()),
  signal: z.optional(signal()),
})

/** The options of `create`. A key of one form that the other lacks cannot be JSON: a function, a signal. */
export const createOptions = lazily({
  host: () =>
    strict({
      provider: z.optional(z.string()),
      local: z.optional(z.omit(localOptions.local, { data: true })),
      ...createFields(),
    }),
  json: () =>
    strict({
      provider: z.optional(z.string()),
      local: optionally(() => localOptions.json),
      ...sharedFields({
        env: textsByName(),
        workspace: manifestOptions.json,
        policy: policyOptions.policy,
      }),
    }),
})
