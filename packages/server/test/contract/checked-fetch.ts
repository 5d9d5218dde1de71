import { checkFrame, checkHead, checkJson, checkLateJson, type Requested } from './contract.ts'

/**
 * `fetch` that holds a daemon to its contract: every JSON body and every frame of a stream is parsed by the schema of
 * its route, every problem by that of problems. It rejects, or breaks the stream, where one is not as it should be.
 */
export const checkedFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await fetch(input, init)
  const { pathname } = new URL(input instanceof Request ? input.url : input)
  // Previews pass on what others serve; the page is no JSON.
  if (!pathname.startsWith('/v1/')) return response
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET')
  return checkedResponse({ method: method.toUpperCase(), path: pathname }, response)
}

async function checkedResponse(requested: Requested, response: Response): Promise<Response> {
  const { status, body } = response
  if (requested.method === 'OPTIONS') return response
  const type = response.headers.get('content-type')?.split(';')[0]
  checkHead(requested, status, type)
  if (body === null || requested.method === 'HEAD') return response
  if (type === 'text/event-stream') return passing(response, frameChecks(requested))
  if (type !== 'application/json' && type !== 'application/problem+json') return response
  // Without a length the body is still being produced: its reader may give up first.
  if (!response.headers.has('content-length')) return passing(response, jsonCheck(requested, status))
  checkJson(requested, status, JSON.parse(await response.clone().text()))
  return response
}

/** The same response, looked at as it is read. */
function passing(response: Response, check: Check): Response {
  const decoder = new TextDecoder()
  const body = response.body!.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        check.read(decoder.decode(chunk, { stream: true }))
        controller.enqueue(chunk)
      },
      flush: () => check.end(),
    }),
  )
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}

interface Check {
  read(text: string): void
  end(): void
}

function jsonCheck(requested: Requested, status: number): Check {
  let all = ''
  return {
    read(text) {
      all += text
    },
    end: () => checkLateJson(requested, status, JSON.parse(all)),
  }
}

function frameChecks(requested: Requested): Check {
  let rest = ''
  return {
    read(text) {
      const frames = (rest + text).split('\n\n')
      rest = frames.pop()!
      for (const frame of frames) checkFrameText(requested, frame)
    },
    end: () => undefined,
  }
}

function checkFrameText(requested: Requested, text: string): void {
  // Not by a pattern of lines: U+2028 ends a line for those, and not for a frame.
  const lines = text.split('\n')
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  checkFrame(requested, field('event') ?? 'message', JSON.parse(field('data') ?? 'null'))
}
