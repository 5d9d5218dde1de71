import type { VitrineClient } from '@vitrine/client'
import { newId, type Session, type StreamPiece } from '@vitrine/protocol'
import { InProcessDaemon } from './daemons.ts'

const sandbox = 'streamed'

/** One session of a daemon, in the daemon's process and over HTTP. */
export interface StreamedSession {
  readonly inProcess: Session
  readonly overHttp: Session
}

/** A daemon with one sandbox, whose sessions are streamed. */
export class StreamScene {
  readonly daemon: InProcessDaemon

  private constructor(daemon: InProcessDaemon) {
    this.daemon = daemon
  }

  static async open(): Promise<StreamScene> {
    const daemon = await InProcessDaemon.open()
    await daemon.client.create({ id: sandbox, local: { isolation: 'none' } })
    return new StreamScene(daemon)
  }

  async openSession(permissions: 'allow' | 'ask' = 'allow'): Promise<StreamedSession> {
    const options = { id: newId('session'), agent: 'demo', permissions, env: { VITRINE_DEMO_PACE: '0' } }
    const inProcess = await (await this.daemon.host.attach(sandbox)).openSession(options)
    return { inProcess, overHttp: await this.sessionOf(this.daemon.client, options.id) }
  }

  async sessionOf(client: VitrineClient, id: string): Promise<Session> {
    return (await client.attach(sandbox)).sessions.get(id)
  }

  /** The number of event streams that the daemon serves. */
  async openStreams(): Promise<number> {
    const { url, token } = this.daemon
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    return Number(/^vitrine_streams_open (\d+)$/m.exec(await response.text())?.[1])
  }

  close(): Promise<void> {
    return this.daemon.close()
  }
}

/** All pieces of a stream, and the error that it throws in the end. */
export async function readStream(
  open: () => AsyncIterable<StreamPiece>,
): Promise<{ readonly pieces: readonly StreamPiece[]; readonly error?: unknown }> {
  const pieces: StreamPiece[] = []
  try {
    for await (const piece of open()) pieces.push(piece)
    return { pieces }
  } catch (error) {
    return { pieces, error }
  }
}
