import type { CollectedLog, CollectedSpan } from './collector.ts'

/** Spans as lines of a tree: name, duration, actor, and the error code if it failed. The actors are those of the log records. */
export function spanTree(spans: readonly CollectedSpan[], logs: readonly CollectedLog[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const actors = new Map(logs.map((log) => [log.spanId, attributeOf(log, 'vitrine.actor')]))
  const childrenOf = (parent: string | undefined) =>
    spans
      .filter(({ parentSpanId: id }) => (id !== undefined && ids.has(id) ? id : undefined) === parent)
      .toSorted((one, other) => Number(nanoseconds(one) - nanoseconds(other)))
  const linesOf = (span: CollectedSpan, depth: number): string[] => [
    [
      `${'  '.repeat(depth)}${span.name}`.padEnd(30),
      `${milliseconds(span)} ms`.padStart(8),
      ` ${actors.get(span.spanId) ?? ''}`.padEnd(18),
      attributeOf(span, 'error_code') ?? '',
    ]
      .join(' ')
      .trimEnd(),
    ...childrenOf(span.spanId).flatMap((child) => linesOf(child, depth + 1)),
  ]
  return childrenOf(undefined).flatMap((root) => linesOf(root, 0))
}

function nanoseconds({ startTimeUnixNano }: CollectedSpan): bigint {
  return BigInt(startTimeUnixNano)
}

function milliseconds({ startTimeUnixNano, endTimeUnixNano }: CollectedSpan): number {
  return Math.ceil(Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6)
}

function attributeOf({ attributes }: CollectedSpan | CollectedLog, name: string): string | undefined {
  return attributes.find(({ key }) => key === name)?.value.stringValue
}
