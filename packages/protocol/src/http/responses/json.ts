import * as z from 'zod/mini'
import type { JsonValue } from '../../json.ts'
import { component } from '../component.ts'

/** Any JSON value: for foreign events, the messages of agents and the inputs of tools, whose shape others decide. */
export const json = component('Json', () => z.custom<JsonValue>())
