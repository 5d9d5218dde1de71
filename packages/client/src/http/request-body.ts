import { VitrineError } from '@vitrine/protocol'

/** Bytes on their way out. */
export interface RequestBody {
  readonly body: ReadableStream<Uint8Array> | Uint8Array
  /** What broke at its source, if that is what broke. */
  failure(): VitrineError | undefined
  /** Nobody reads it any more. */
  cancel(): void
}

/** `file_failed`, or `input_closed` for the input of a command: what a source that breaks is blamed with. */
export type SourceErrorCode = 'file_failed' | 'input_closed'

export function requestBody(
  name: string,
  data: Uint8Array | ReadableStream<Uint8Array> | undefined,
  errorCode: SourceErrorCode = 'file_failed',
): RequestBody {
  if (data instanceof Uint8Array) return fromBytes(data)
  if (!(data instanceof ReadableStream))
    throw invalid(
      `${name}: expected bytes or a stream of bytes, got ${data === null ? 'null' : typeof data}.`,
    )
  if (data.locked) throw invalid(`${name}: the stream is read by somebody else.`)
  return fromStream(name, data, errorCode)
}

/** A text as its bytes; anything else as it is. */
export function bytesOfText<Data>(data: string | Data): Data | Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data
}

function fromBytes(body: Uint8Array): RequestBody {
  return { body, failure: () => undefined, cancel: () => undefined }
}

/** Pulled, never ahead of the connection; and it remembers what went wrong, which `fetch` does not tell. */
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
            new VitrineError(errorCode, `${name}: its source broke off: ${reason}`, { cause: error }),
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

/** Browsers send no streams over HTTP/1.1; there it is collected first. */
export async function sendable(body: RequestBody['body']): Promise<RequestInit> {
  // The types ask for bytes that are not shared between threads; `fetch` itself says so where they are.
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> }
  if (!sendsStreams()) return { body: await new Response(body).blob() }
  // Without the last two, Node keeps a copy of all that was sent, to send it again should it be redirected.
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
