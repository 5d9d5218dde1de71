import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'

const rule = () => z.union([z.string(), z.array(z.string(), 'expected an array of strings')])
const rules = () => z.array(rule(), 'expected an array of rules such as ["git push *"]')

/** Rules for which commands may run. The content of a rule is checked when it is compiled. */
export const policyOptions = lazily({
  policy: () =>
    strict({
      allow: z.optional(rules()),
      ask: z.optional(rules()),
      deny: z.optional(rules()),
      otherwise: z.optional(z.enum(['allow', 'ask', 'deny'])),
    }),
})
