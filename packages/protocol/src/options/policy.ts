import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { strict } from './strict.ts'

const rule = () => z.union([z.string(), z.array(z.string(), 'expected a list of texts')])
const rules = () => z.array(rule(), 'expected a list of rules such as ["git push *"]')

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
