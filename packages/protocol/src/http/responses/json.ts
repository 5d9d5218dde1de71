import * as z from 'zod/mini'
import { component } from '../../component.ts'
import type { JsonValue } from '../../json.ts'

/** Any JSON value: for foreign events, agent messages and tool inputs, whose shape Vitrine does not define. */
export const json = component('Json', () => z.custom<JsonValue>())
