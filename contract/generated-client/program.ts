import createClient from 'openapi-fetch'
import type { components, paths } from './generated/api.d.ts'

type JournalItem = components['schemas']['JournalItem']
/** Without `text/event-stream`: this client reads no streams. */
type Media = 'application/json' | 'application/octet-stream' | 'application/problem+json'

/** Calls ten routes of a daemon through a client that was generated from its OpenAPI document. */
export async function callTenRoutes(baseUrl: string, token: string) {
  const api = createClient<paths, Media>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

  const health = given(await api.GET('/v1/health'))

  const created = given(
    await api.POST('/v1/sandboxes', {
      body: { labels: { made: 'by a generator' }, local: { isolation: 'none' } },
    }),
  )
  const sandbox = created.id

  const executed = given(
    await api.POST('/v1/sandboxes/{sandbox}/exec', {
      params: { path: { sandbox }, header: { 'vitrine-actor': 'generated' } },
      body: { command: 'echo hello; exit 3' },
    }),
  )

  const written = given(
    await api.PUT('/v1/sandboxes/{sandbox}/files/content', {
      params: { path: { sandbox }, query: { path: 'notes/one.txt', parents: 'true' } },
      headers: { 'content-type': 'application/octet-stream' },
      body: 'some text',
      bodySerializer: (body) => body,
    }),
  )
  const content = given(
    await api.GET('/v1/sandboxes/{sandbox}/files/content', {
      params: { path: { sandbox }, query: { path: 'notes/one.txt' } },
      parseAs: 'text',
    }),
  )
  const listed = given(
    await api.GET('/v1/sandboxes/{sandbox}/files/list', {
      params: { path: { sandbox }, query: { path: 'notes' } },
    }),
  )

  const spawned = given(
    await api.POST('/v1/sandboxes/{sandbox}/processes', {
      params: { path: { sandbox } },
      body: { command: 'echo', args: ['from a process'] },
    }),
  )
  const process = spawned.id
  const ended = given(
    await api.GET('/v1/sandboxes/{sandbox}/processes/{process}', {
      params: { path: { sandbox, process }, query: { wait: '30000' } },
    }),
  )
  const logs = given(
    await api.GET('/v1/sandboxes/{sandbox}/processes/{process}/logs', {
      params: { path: { sandbox, process }, query: { stream: 'stdout' } },
    }),
  )

  const session = given(
    await api.POST('/v1/sandboxes/{sandbox}/sessions', {
      params: { path: { sandbox } },
      body: { agent: 'demo', permissions: 'allow', env: { VITRINE_DEMO_PACE: '0' } },
    }),
  )
  const prompted = given(
    await api.POST('/v1/sandboxes/{sandbox}/sessions/{session}/prompt', {
      params: { path: { sandbox, session: session.id }, query: { wait: 'true' } },
      body: { prompt: 'say hello' },
    }),
  )

  const page = given(
    await api.GET('/v1/sandboxes/{sandbox}/events', {
      params: { path: { sandbox }, query: { types: 'operation.finished,turn.finished', limit: '1000' } },
    }),
  )

  const missing = await api.GET('/v1/sandboxes/{sandbox}', { params: { path: { sandbox: 'sbx_none' } } })
  const removed = await api.DELETE('/v1/sandboxes/{sandbox}', { params: { path: { sandbox } } })

  return {
    health: health.status,
    labels: created.labels,
    isolation: created.capabilities.isolation,
    exec: { exitCode: executed.exitCode, stdout: executed.stdout, outcome: executed.outcome },
    written: { path: written.path, size: written.size },
    content,
    listed: listed.entries.map(({ path, kind }) => `${kind} ${path}`),
    ended: { state: ended.state, exitCode: ended.exit?.exitCode },
    logs: logs.entries.map(({ data }) => atob(data)).join(''),
    session: { agent: session.agent, state: session.state, waiting: session.permissions.length },
    // With `wait` the response has the outcome; without it the prompt is only accepted.
    outcome: 'outcome' in prompted ? prompted.outcome : 'accepted',
    execs: page.events.filter((item) => opOf(item) === 'exec').length,
    turns: page.events.flatMap((item) => (item.type === 'turn.finished' ? [item.data.outcome] : [])),
    isLast: page.end,
    missing: { status: missing.response.status, code: missing.error?.code, hint: missing.error?.hint },
    removed: removed.response.status,
  }
}

/** The `type` of an event narrows its `data`. */
function opOf(item: JournalItem): string | undefined {
  return item.type === 'operation.finished' ? item.data.op : undefined
}

/** Calls that must not compile with the types of the document. */
export async function mistakes(baseUrl: string) {
  const api = createClient<paths, Media>({ baseUrl })
  // @ts-expect-error There is no such route.
  await api.GET('/v1/nowhere')
  // @ts-expect-error A command is missing.
  await api.POST('/v1/exec', { body: { cwd: '/' } })
  // @ts-expect-error The path has a parameter.
  await api.GET('/v1/sandboxes/{sandbox}', { params: { path: {} } })
  // @ts-expect-error The field is a number.
  given(await api.POST('/v1/exec', { body: { command: 'true' } })).durationMs.trim()
  // @ts-expect-error The field is one of four literals.
  given(await api.POST('/v1/sandboxes', { body: {} })).capabilities.isolation === 'walls'
  // @ts-expect-error A session has no such field.
  given(await api.GET('/v1/sessions')).sessions[0]?.colour
}

function given<Data>({ data, error }: { readonly data?: Data; readonly error?: unknown }): NonNullable<Data> {
  if (data === undefined || data === null) throw new Error(`The request failed: ${JSON.stringify(error)}`)
  return data
}
