import { type ByteStream, VitrineError } from '@vitrine/protocol'
import { toWebStream } from '@vitrine/protocol/primitives'

/** The bytes of a request. */
export interface RequestBody {
  readonly body: ReadableStream<Uint8Array> | Uint8Array
  /** The error of the source, if the source failed. */
  failure(): VitrineError | undefined
  /** Cancels the source. */
  cancel(): void
}

/** The error code when the source fails: `input_closed` for the input of a command, otherwise `file_failed`. */
export type SourceErrorCode = 'file_failed' | 'input_closed'

export function requestBody(
  name: string,
  given: Uint8Array | ByteStream | undefined,
  errorCode: SourceErrorCode = 'file_failed',
): RequestBody {
  const data = toWebStream(name, given)
  if (data instanceof Uint8Array) return fromBytes(data)
  if (!(data instanceof ReadableStream))
    throw invalid(
      `${name}: expected a Uint8Array or a stream of bytes, got ${data === null ? 'null' : typeof data}.`,
    )
  if (data.locked) throw invalid(`${name}: expected an unlocked stream, got one that has a reader.`)
  return fromStream(name, data, errorCode)
}

/** Encodes a string as UTF-8; returns anything else unchanged. */
export function bytesOfText<Data>(data: string | Data): Data | Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data
}

function fromBytes(body: Uint8Array): RequestBody {
  return { body, failure: () => undefined, cancel: () => undefined }
}

/** Reads the source on demand and remembers its error, which `fetch` does not report. */
function fromStream(
  name: string,
  source: ReadableStream<Uint8Array>,
  errorCode: SourceErrorCode,
): RequestBody {
  const reader = source.getReader()
  let failed: VitrineError | undefined
  let isOver = false
  const cancel = () => {
    if (isOver) return
    isOver = true
    reader.cancel().catch(() => undefined)
  }
  const fail = (error: VitrineError) => {
    failed = error
    cancel()
    return error
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = await reader.read().catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error)
          throw fail(
            new VitrineError(errorCode, `${name}: reading the source failed: ${reason}`, { cause: error }),
          )
        })
        if (part.done) {
          isOver = true
          controller.close()
        } else if (!(part.value instanceof Uint8Array))
          throw fail(invalid(`${name}: expected bytes from the stream, got ${typeof part.value}.`))
        else controller.enqueue(part.value)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
  return { body, failure: () => failed, cancel }
}

/** Converts a body for `fetch`. Browsers cannot send streams over HTTP/1.1, so there it is buffered first. */
export async function sendable(body: RequestBody['body']): Promise<RequestInit> {
  // The type excludes SharedArrayBuffer; `fetch` itself rejects it.
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> }
  if (!sendsStreams()) return { body: await new Response(body).blob() }
  // Without the last two, Node keeps a copy of everything it sent, to resend it after a redirect.
  const init: RequestInit & { readonly duplex: 'half' } = {
    body,
    duplex: 'half',
    redirect: 'error',
    window: null,
  }
  return init
}

function sendsStreams(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } }
  return process?.versions?.node !== undefined
}

function invalid(message: string): VitrineError {
  return new VitrineError('argument_invalid', message)
}
