/** Posts a request; returns the status, the content type, and the body as JSON or as stream events. */
export async function post(url: string, body: unknown, signal?: AbortSignal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer dummy' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type')
  return {
    status: response.status,
    type,
    json: type === 'application/json' ? JSON.parse(text) : undefined,
    events: type === 'text/event-stream' ? eventsOf(text) : [],
  }
}

function eventsOf(text: string) {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [, event, data = ''] = /^(?:event: (.*)\n)?data: (.*)$/.exec(frame) ?? []
      return { event, data: data === '[DONE]' ? data : JSON.parse(data) }
    })
}
