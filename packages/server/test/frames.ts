import type { ResponseJson } from './daemon.ts'

/** A frame of server-sent events. */
export interface Frame {
  readonly event: string
  readonly id?: string
  readonly data: ResponseJson
}

/** The frames of a stream, one by one, until it ends or the reader stops. */
export async function* framesOf(response: Response): AsyncGenerator<Frame, undefined> {
  let text = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part
    const frames = text.split('\n\n')
    text = frames.pop()!
    for (const frame of frames) yield parse(frame)
  }
  return undefined
}

/** The first matching frame; then the stream is cancelled. */
export async function frameWhere(response: Response, fits: (frame: Frame) => boolean): Promise<Frame> {
  for await (const frame of framesOf(response)) if (fits(frame)) return frame
  throw new Error('The stream ended before it came.')
}

/** Everything up to the first that fits, and that one. */
export async function framesUntil(response: Response, fits: (frame: Frame) => boolean): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const frame of framesOf(response)) {
    frames.push(frame)
    if (fits(frame)) return frames
  }
  throw new Error(`The stream ended after ${JSON.stringify(frames.at(-1))}.`)
}

function parse(text: string): Frame {
  const fields = new Map(
    text.split('\n').map((line): [string, string] => {
      const at = line.indexOf(': ')
      return [line.slice(0, at), line.slice(at + 2)]
    }),
  )
  const id = fields.get('id')
  return {
    event: fields.get('event') ?? 'message',
    ...(id !== undefined && { id }),
    data: JSON.parse(fields.get('data') ?? 'null'),
  }
}
