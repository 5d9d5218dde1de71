import type { DesktopEventType, EventType } from './catalogue.ts'
import type { DesktopEvent, JournalEvent, JournalGap, KnownEvent, UnknownEvent } from './envelope.ts'

/** The events that a pattern matches: an exact name, a family (`file.*`), or `*`. */
export type MatchedEvent<Pattern extends string> = Pattern extends unknown
  ? IsOpen<Pattern> extends true
    ? JournalEvent
    : Pattern extends EventType
      ? KnownEvent<Pattern>
      : Pattern extends DesktopEventType
        ? DesktopEvent
        : Pattern extends '*'
          ? JournalEvent
          : Pattern extends `${infer Family}.*`
            ? // A newer version may have more types in a family.
              KnownEvent<Extract<EventType, `${Family}.${string}`>> | UnknownEvent
            : UnknownEvent<Pattern>
  : never

/** The items that a reader with these patterns gets. */
export type MatchedItem<Pattern extends string> = MatchedEvent<Pattern> | JournalGap

/** Whether the type stands for many strings, such as `string` itself. */
type IsOpen<Text extends string> = Record<never, unknown> extends Record<Text, unknown> ? true : false

/**
 * A test for event types: exact names, families (`file.*`), or `*`. No patterns means everything.
 *
 * @example
 * matchTypes(['file.*', 'turn.finished'])('file.moved') // true
 */
export function matchTypes(patterns: readonly string[] | undefined): (type: string) => boolean {
  if (patterns === undefined || patterns.includes('*')) return () => true
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')))
  const families = patterns.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1))
  return (type) => exact.has(type) || families.some((family) => type.startsWith(family))
}
