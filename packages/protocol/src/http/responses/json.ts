import * as z from 'zod/mini'
import type { JsonValue } from '../../json.ts'
import { component } from '../component.ts'

/** Any JSON value: for foreign events, agent messages and tool inputs, whose shape Vitrine does not define. */
export const json = component('Json', () => z.custom<JsonValue>())
