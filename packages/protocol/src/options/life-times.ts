import * as z from 'zod/mini'
import { whole } from './values.ts'

/** Milliseconds; longer times than those of a timer are allowed. */
const lifeTime = () => z.optional(whole(1))

export const lifeTimes = () => ({ idleStopMs: lifeTime(), maxAgeMs: lifeTime(), ttlMs: lifeTime() })
