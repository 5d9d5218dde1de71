import type * as z from 'zod/mini'
import type { JsonValue } from '../json.ts'
import { joined } from '../lazy.ts'
import { agentData } from './data/agent.ts'
import { fileData } from './data/file.ts'
import { networkData } from './data/network.ts'
import { operationData } from './data/operation.ts'
import { processData } from './data/process.ts'
import { recordData } from './data/record.ts'
import { runtimeData } from './data/runtime.ts'
import { sandboxData } from './data/sandbox.ts'
import { sessionData } from './data/session.ts'

/** Every event type of Vitrine and the schema of its `data`. */
export const eventCatalogue = joined(
  sandboxData,
  operationData,
  processData,
  fileData,
  networkData,
  agentData,
  sessionData,
  runtimeData,
  recordData,
)

export type EventType = keyof typeof eventCatalogue

/** `desktop.*` is an open family: the catalogue does not list its types. */
export type DesktopEventType = `desktop.${string}`

/** The data of an event type, as its schema says. Fields that the schema does not describe are JSON. */
export type EventData<T extends EventType> = Recorded<z.infer<(typeof eventCatalogue)[T]>>

type Recorded<Data> = {
  readonly [Field in keyof Data]: unknown extends Data[Field] ? JsonValue | undefined : Data[Field]
}

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventCatalogue, type)
}

export function isDesktopEventType(type: string): type is DesktopEventType {
  return /^desktop\.[a-z][a-z_]*$/.test(type)
}
