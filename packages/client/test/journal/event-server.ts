import type { ServerResponse } from 'node:http'
import type { JournalEvent } from '@vitrine/protocol'
import type { Exchange } from '../fixture.ts'

export function event(seq: number): JournalEvent {
  return {
    journal: 'sbx_1',
    seq,
    time: '2026-01-01T00:00:00.000Z',
    type: 'log.message',
    source: 'host',
    data: { level: 'info', message: `number ${seq}` },
  }
}

export function eventFrame(seq: number): string {
  return `id: c${seq}\ndata: ${JSON.stringify(event(seq))}\n\n`
}

export function heartbeat(cursor: string | null): string {
  return `event: heartbeat\ndata: ${JSON.stringify({ cursor })}\n\n`
}

export function openStream({ response }: Pick<Exchange, 'response'>): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Written and then cut, as by a network that fails. */
export function writeAndCut(response: ServerResponse, text: string): void {
  response.write(text, () => setTimeout(() => response.destroy(), 10))
}
