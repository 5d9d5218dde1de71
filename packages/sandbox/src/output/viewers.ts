import { type OutputChunk, VitrineError } from '@vitrine/protocol'
import { HeadAndTail } from './head-and-tail.ts'
import type { OutputStream } from './recorder.ts'

/** The most bytes of earlier output that a new viewer gets. */
const recentBytes = 256 * 1024
/** The most bytes that wait for one viewer, counting `chunkCost` for the overhead of each chunk. */
const maxPending = 16 * 1024 * 1024
const chunkCost = 256

interface Viewer {
  readonly pending: OutputChunk[]
  bytes: number
  state: 'open' | 'behind' | 'ended'
  wake(): void
}

/** Delivers a process's unredacted output to its viewers. A slow viewer is dropped and never slows the process down. */
export class Viewers {
  readonly #recent = new Map<OutputStream, HeadAndTail>()
  readonly #viewers = new Set<Viewer>()
  #ended = false

  take(stream: OutputStream, data: Buffer): void {
    let recent = this.#recent.get(stream)
    if (recent === undefined) {
      recent = new HeadAndTail(recentBytes, 0)
      this.#recent.set(stream, recent)
    }
    recent.push(data)
    for (const viewer of this.#viewers) {
      if (viewer.state !== 'open') continue
      viewer.bytes += data.length + chunkCost
      if (viewer.bytes > maxPending) {
        viewer.state = 'behind'
        viewer.pending.length = 0
      } else viewer.pending.push({ stream, data })
      viewer.wake()
    }
  }

  end(): void {
    this.#ended = true
    for (const viewer of this.#viewers) {
      if (viewer.state === 'open') viewer.state = 'ended'
      viewer.wake()
    }
  }

  async *view(signal?: AbortSignal): AsyncGenerator<OutputChunk, undefined> {
    const viewer: Viewer = {
      pending: this.#recentChunks(),
      bytes: 0,
      state: this.#ended ? 'ended' : 'open',
      wake: () => undefined,
    }
    this.#viewers.add(viewer)
    const stop = () => viewer.wake()
    signal?.addEventListener('abort', stop)
    try {
      for (;;) {
        if (signal?.aborted) return
        const chunk = viewer.pending.shift()
        if (chunk !== undefined) {
          viewer.bytes -= Math.min(viewer.bytes, chunk.data.length + chunkCost)
          yield chunk
        } else if (viewer.state === 'behind') {
          throw new VitrineError(
            'reader_fell_behind',
            `This viewer was ${maxPending / 1024 / 1024} MiB behind the process and was disconnected.`,
          )
        } else if (viewer.state === 'ended') return
        else await new Promise<void>((resolve) => (viewer.wake = resolve))
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#viewers.delete(viewer)
    }
  }

  #recentChunks(): OutputChunk[] {
    return [...this.#recent].flatMap(([stream, kept]) => {
      const { head, tail } = kept.parts()
      const data = head.length > 0 ? head : tail
      return data.length === 0 ? [] : [{ stream, data }]
    })
  }
}
