// The start page of the daemon: its events as they happen. No build step, no framework, no external resources.
// Events contain untrusted data, so they are only ever inserted as text.

const maxRows = 2_000
const historyRows = 500
const quietMs = 25_000

// ---- Escaping

/** Characters that a browser interprets or does not show: controls, direction marks and zero-width characters. */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

function escapeOf(character) {
  // Harmless variation selectors: they only select the form of the preceding character.
  if (character === '\ufe0e' || character === '\ufe0f') return character
  const code = character.codePointAt(0)
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}

/** Escapes text as one line of at most `max` characters. */
export function escapeText(text, max = 300) {
  const cut = text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text
  return cut.replace(unsafeCharacters, (character) => {
    if (character === '\n') return '⏎'
    if (character === '\t') return '⇥'
    return escapeOf(character)
  })
}

/** Escapes text and preserves its line breaks. */
function escapeLines(text) {
  return text.replace(unsafeCharacters, (character) => (character === '\n' ? character : escapeOf(character)))
}

// ---- Summaries of events

const textOf = (value) => (typeof value === 'string' ? value : undefined)
const fieldsOf = (value) => (typeof value === 'object' && value !== null ? value : {})
const joined = (...parts) => parts.filter((part) => part !== undefined && part !== '').join(' ')

function compact(value) {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined
  return JSON.stringify(value)
}

function sizeText(bytes) {
  if (typeof bytes !== 'number') return undefined
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

function durationText(milliseconds) {
  if (typeof milliseconds !== 'number') return undefined
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

/** A string, or a note about the blob that stores it. */
function longText(value) {
  const { blob, bytes } = fieldsOf(value)
  return blob === undefined ? textOf(value) : `(${sizeText(bytes) ?? 'text'} in a blob)`
}

function endingText({ outcome, exitCode, signal, durationMs, errorCode, errorMessage }) {
  return joined(
    textOf(outcome),
    typeof exitCode === 'number' && !(exitCode === 0 && outcome === 'ok') ? `exit ${exitCode}` : undefined,
    textOf(signal),
    durationText(durationMs),
    textOf(errorCode),
    longText(errorMessage),
  )
}

const commandText = (argv) => (Array.isArray(argv) ? argv.join(' ') : textOf(argv))

function contentText(content) {
  const blocks = Array.isArray(content) ? content : [content]
  return blocks
    .map((block) => textOf(block) ?? textOf(fieldsOf(block).text) ?? `(${fieldsOf(block).type})`)
    .join(' ')
}

function messageText({ direction, message: value }) {
  const message = fieldsOf(value)
  const { update: given, prompt } = fieldsOf(message.params)
  const update = fieldsOf(given)
  const kind = textOf(update.sessionUpdate)
  if (kind !== undefined) {
    const text = textOf(fieldsOf(update.content).text)
    if (text !== undefined) return joined(kind === 'agent_thought_chunk' ? 'thinks:' : undefined, text)
    return joined(kind.replaceAll('_', ' '), textOf(update.title), textOf(update.status))
  }
  const arrow = direction === 'in' ? '→' : '←'
  const method = textOf(message.method)
  if (method !== undefined) {
    // The event itself already has the session.
    const { sessionId: _session, ...params } = fieldsOf(message.params)
    return joined(arrow, method, prompt === undefined ? compact(params) : contentText(prompt))
  }
  if (message.blob !== undefined) return joined(arrow, longText(message))
  const error = fieldsOf(message.error)
  return joined(arrow, textOf(error.message) ?? compact(message.result) ?? 'done')
}

const ending = (event) => endingText(event.data)
const pathText = ({ data: { path, kind, size } }) =>
  joined(kind === 'directory' ? `${path}/` : path, sizeText(size))

const summaries = {
  'agent.message': ({ data }) => messageText(data),
  'agent.started': ({ data }) => joined(data.agent, compact(data.credentials)),
  'agent.exited': ({ data }) => joined(data.agent, endingText(data)),
  'agent.installed': ({ data }) => joined(data.agent, data.version),
  'agent.unparsed': ({ data }) => longText(data.data),
  'file.created': pathText,
  'file.changed': pathText,
  'file.deleted': pathText,
  'file.moved': (event) => joined(textOf(event.data.previousPath), '→', pathText(event)),
  'watch.ready': ({ data }) => data.root,
  'watch.degraded': ({ data }) => data.reason,
  'operation.started': ({ data }) =>
    joined(data.op, commandText(data.argv ?? data.command) ?? textOf(data.path) ?? compact(data.port)),
  'operation.progress': ({ data }) =>
    joined(data.op, textOf(data.gate), textOf(data.answer), textOf(data.reason)),
  'operation.finished': ({ data }) => joined(data.op, endingText(data), sizeText(data.bytes)),
  'process.started': ({ data }) => joined(commandText(data.argv), data.pid && `(pid ${data.pid})`),
  'process.output': ({ data }) =>
    data.encoding === 'base64' ? '(bytes that are not text)' : longText(data.data)?.replace(/\r?\n$/, ''),
  'process.exited': ending,
  'network.allowed': ({ data }) => joined(data.host, compact(data.port)),
  'network.failed': ({ data }) => joined(data.host, compact(data.port), data.error),
  'network.refused': ({ data }) => joined(data.host, compact(data.port), data.reason),
  'session.created': ({ data }) => joined(data.agent, textOf(data.cwd)),
  'session.closed': ({ data }) => joined(textOf(data.reason), endingText(data)),
  'prompt.queued': ({ data }) => contentText(data.prompt),
  'prompt.dropped': ({ data }) => joined(textOf(data.reason), contentText(data.prompt)),
  'turn.started': ({ data }) => contentText(data.prompt),
  'turn.finished': ({ data }) =>
    joined(textOf(data.stopReason), endingText(data), textOf(fieldsOf(data.modelError).text)),
  'permission.requested': ({ data }) => fieldsOf(data.toolCall).title ?? data.permission,
  'permission.resolved': ({ data }) => joined(textOf(data.answer), textOf(data.by) && `by ${data.by}`),
  'question.requested': ({ data }) => data.message ?? data.question,
  'question.resolved': ({ data }) => joined(textOf(data.action), textOf(data.by) && `by ${data.by}`),
  'sandbox.created': ({ data }) => joined(data.provider, data.root),
  'sandbox.ready': (event) => event.sandbox,
  'sandbox.degraded': ({ data }) => joined(data.feature, data.reason),
  'sandbox.failed': ending,
  'run.finished': ending,
  'loop.finished': ending,
  'journal.recovered': ({ data }) => `closed ${data.closed?.length ?? 0} as interrupted: ${data.reason}`,
  'journal.gap': ({ data }) => `events ${data.from} to ${data.to} are missing: ${data.reason}`,
  'log.message': ({ data }) => joined(data.level, data.message),
}

/** A short summary of an event. */
export function summaryOf(event) {
  const known = { ...event, data: fieldsOf(event.data) }
  try {
    const summarize = Object.hasOwn(summaries, event.type) ? summaries[event.type] : undefined
    return escapeText(String(summarize?.(known) ?? compact(known.data) ?? ''))
  } catch {
    // The data has an unexpected shape, from a newer daemon or a malicious writer: show it as JSON.
    return escapeText(compact(known.data) ?? '')
  }
}

const families = new Set(
  'agent desktop file foreign host journal limit log loop network operation permission process question run sandbox session sink snapshot turn watch'.split(
    ' ',
  ),
)

/** The family of a type, which selects its colour; `other` for unknown types. */
function familyOf(type) {
  const [family] = String(type).split('.')
  return families.has(family) ? family : 'other'
}

function toneOf({ type, data: given }) {
  const data = fieldsOf(given)
  if (type === 'journal.gap') return 'warn'
  if (data.modelError !== undefined || data.level === 'error') return 'bad'
  if (['failed', 'timeout', 'interrupted'].includes(data.outcome)) return 'bad'
  if (data.outcome === 'cancelled' || data.stream === 'stderr' || data.level === 'warn') return 'warn'
  return 'plain'
}

// ---- The filter

/**
 * `file. turn.fin landing page` selects types with these prefixes that contain the text.
 * The daemon filters by exact type and family; other prefixes are filtered here.
 */
export function readFilter(text) {
  const words = text.trim().split(/\s+/).filter(Boolean)
  const isType = (word) => /^[a-z]+\.[a-z_.*]*$/.test(word) || families.has(word)
  const prefixes = words
    .filter(isType)
    .map((word) => (families.has(word) ? `${word}.` : word.replace(/\*+$/, '')))
  const types = [...new Set(prefixes.map((prefix) => `${prefix.split('.')[0]}.*`))]
  const rest = words.filter((word) => !isType(word)).join(' ')
  return { prefixes, types, text: rest }
}

function addressOf(sandbox, filter) {
  const query = new URLSearchParams()
  if (sandbox === 'all') query.set('scope', 'all')
  if (filter.types.length > 0) query.set('types', filter.types.join(','))
  if (filter.text !== '') query.set('text', filter.text)
  const path =
    sandbox === 'all' || sandbox === '' ? 'events' : `sandboxes/${encodeURIComponent(sandbox)}/events`
  return { path: `/v1/${path}`, query }
}

// ---- HTTP

/** An error response, with the message of the daemon. */
class ResponseError extends Error {
  constructor(status, message, code) {
    super(message)
    this.status = status
    this.code = code
  }

  /** Whether a retry could succeed. */
  get isTransient() {
    return this.status === 408 || this.status === 429 || this.status >= 500
  }
}

async function request(path, { query, token, accept = 'application/json', signal } = {}) {
  const search = query === undefined || query.size === 0 ? '' : `?${query}`
  const response = await fetch(path + search, {
    headers: { accept, ...(token && { authorization: `Bearer ${token}` }) },
    cache: 'no-store',
    credentials: 'omit',
    signal,
  })
  if (response.ok) return response
  const problem = await response.json().catch(() => ({}))
  const { detail, title, code } = fieldsOf(problem)
  const message = textOf(detail) ?? textOf(title) ?? `The daemon responded with status ${response.status}.`
  throw new ResponseError(response.status, message, code)
}

/** Parses server-sent events from chunks of bytes, which may be split anywhere. */
export class FrameParser {
  #decoder = new TextDecoder()
  #rest = ''
  #frame = { data: [] }

  add(bytes) {
    const frames = []
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop()
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
      if (line !== '') this.#field(line)
      else if (this.#frame.data.length > 0) {
        frames.push({ ...this.#frame, data: this.#frame.data.join('\n') })
        this.#frame = { data: [] }
      } else this.#frame = { data: [] }
    }
    return frames
  }

  #field(line) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line)
    if (name === 'data') this.#frame.data.push(value)
    if (name === 'event' || name === 'id') this.#frame[name] = value
  }
}

/** Reads a stream until it ends; aborts it if nothing arrives for `quietMs`. */
async function readFrames(response, onFrame, controller) {
  const parser = new FrameParser()
  const reader = response.body.getReader()
  let timer
  const restartTimer = () => {
    clearTimeout(timer)
    timer = setTimeout(() => controller.abort(), quietMs)
  }
  try {
    for (;;) {
      restartTimer()
      const { done, value } = await reader.read()
      if (done) return
      for (const frame of parser.add(value)) onFrame(frame)
    }
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => {})
  }
}

// ---- The page

function start() {
  const at = (id) => document.getElementById(id)
  const list = at('list')
  let token = takeToken()
  /** The current subscription; replaced when the sandbox or the filter changes. */
  let following = { controller: new AbortController() }
  let rows = []
  let selected
  let waiting = []
  let atEnd = true
  let unseen = 0
  let total = 0

  // -- The token: read from the fragment, stored for this tab only.

  function takeToken() {
    const [, given] = /[#&]token=([^&]*)/.exec(location.hash) ?? []
    if (given) {
      let decoded = given
      try {
        decoded = decodeURIComponent(given)
      } catch {
        // The token was not URL-encoded.
      }
      storeToken(decoded)
      history.replaceState(null, '', location.pathname + location.search)
      return decoded
    }
    try {
      return sessionStorage.getItem('vitrine-token') ?? undefined
    } catch {
      return undefined
    }
  }

  function storeToken(value) {
    try {
      if (value === undefined) sessionStorage.removeItem('vitrine-token')
      else sessionStorage.setItem('vitrine-token', value)
    } catch {
      // Without storage the token is lost when the page is closed.
    }
  }

  function askForToken(reason) {
    show('stopped', 'token required')
    following.controller.abort()
    storeToken(undefined)
    at('entry-error').textContent = reason ?? ''
    if (!at('entry').open) at('entry').showModal()
    at('entry-token').focus()
  }

  at('entry-form').addEventListener('submit', (event) => {
    event.preventDefault()
    token = at('entry-token').value.trim()
    if (!/^[\x21-\x7e]+$/.test(token)) {
      at('entry-error').textContent =
        'Invalid token: it contains spaces or other characters that tokens cannot have.'
      return
    }
    at('entry-token').value = ''
    storeToken(token)
    at('entry').close()
    subscribe()
  })
  at('entry').addEventListener('cancel', (event) => event.preventDefault())
  addEventListener('hashchange', () => {
    if (!location.hash.includes('token=')) return
    token = takeToken()
    if (at('entry').open) at('entry').close()
    subscribe()
  })

  // -- The state of the connection.

  /** `details` is hidden from screen readers, which would otherwise announce every step of a countdown. */
  function show(state, text, details = '') {
    at('state').dataset.state = state
    if (at('state-text').textContent !== text) at('state-text').textContent = text
    at('state-beside').textContent = details
  }

  // -- The list of sandboxes.

  async function listSandboxes() {
    // Destroyed ones too: their journals can be read.
    const query = new URLSearchParams({ state: 'all' })
    const response = await request('/v1/sandboxes', { query, token })
    const { sandboxes = [], default: defaultId } = await response.json()
    const select = at('sandbox')
    const chosen = select.value
    const options = [
      option('', defaultId === undefined || defaultId === 'default' ? 'default' : `default (${defaultId})`),
      option('all', 'all sandboxes and the host'),
      ...sandboxes
        .filter(({ id }) => id !== defaultId)
        .map(({ id, state }) => option(id, `${id} (${state})`)),
    ]
    select.replaceChildren(...options)
    select.value = options.some(({ value }) => value === chosen) ? chosen : ''
  }

  function option(value, text) {
    const element = document.createElement('option')
    element.value = value
    element.textContent = escapeText(text, 60)
    return element
  }

  // -- The subscription.

  async function subscribe() {
    following.controller.abort()
    const controller = new AbortController()
    const mine = { controller, cursor: undefined, oldest: undefined, shown: new Set() }
    following = mine
    clear()
    show('connecting', 'connecting')
    const sandbox = at('sandbox').value
    mine.filter = readFilter(at('filter').value)
    mine.address = addressOf(sandbox, mine.filter)
    let waitMs = 1_000
    while (!controller.signal.aborted) {
      const once = new AbortController()
      const stop = () => once.abort()
      controller.signal.addEventListener('abort', stop, { once: true })
      try {
        if (at('sandbox').options.length === 0) await listSandboxes()
        if (controller.signal.aborted) return
        const query = new URLSearchParams(mine.address.query)
        query.set('after', mine.cursor ?? 'now')
        const response = await request(mine.address.path, {
          query,
          token,
          accept: 'text/event-stream',
          signal: once.signal,
        })
        if (mine.cursor === undefined) {
          // The stream is already open, so it buffers events that happen while the history is read.
          clear()
          await readEarlier(mine)
        }
        show('live', 'live')
        await readFrames(
          response,
          (frame) => {
            if (controller.signal.aborted) return
            waitMs = 1_000
            take(mine, frame)
          },
          once,
        )
      } catch (error) {
        if (controller.signal.aborted) return
        if (error instanceof ResponseError && error.status === 401)
          return askForToken(token === undefined ? undefined : error.message)
        if (error instanceof ResponseError && !error.isTransient) return show('stopped', error.message)
      } finally {
        controller.signal.removeEventListener('abort', stop)
        once.abort()
      }
      await pause(mine, waitMs * (0.75 + Math.random() / 2))
      waitMs = Math.min(waitMs * 2, 30_000)
    }
  }

  /** Waits and shows a countdown. */
  async function pause({ controller }, milliseconds) {
    const until = Date.now() + milliseconds
    while (!controller.signal.aborted && Date.now() < until) {
      show('waiting', 'no connection', `retry in ${Math.ceil((until - Date.now()) / 1000)} s`)
      await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, until - Date.now())))
    }
  }

  function take(mine, { event, id, data: text }) {
    const data = JSON.parse(text)
    if (event === 'error')
      throw new ResponseError(data.status ?? 500, textOf(data.detail) ?? 'The stream failed.', data.code)
    if (event === undefined || event === 'gap') {
      mine.cursor = id ?? fieldsOf(data.data).cursor ?? mine.cursor
      if (!mine.shown.has(keyOf(data))) add(mine, data)
    }
    if (event === 'heartbeat' && typeof data.cursor === 'string') mine.cursor = data.cursor
  }

  function keyOf({ journal, seq }) {
    return `${seq} ${journal}`
  }

  function add(mine, event) {
    if (!matchesFilter(mine.filter, event)) return
    waiting.push(event)
    // A hidden page is not painted, so limit the queue to the number of rows that will be shown.
    if (waiting.length > maxRows) waiting.shift()
    if (waiting.length === 1) requestAnimationFrame(paint)
    if (/^sandbox\.(created|destroyed)$/.test(event.type)) listSandboxes().catch(() => {})
  }

  function matchesFilter({ prefixes }, { type }) {
    return (
      prefixes.length === 0 ||
      type === 'journal.gap' ||
      prefixes.some((prefix) => String(type).startsWith(prefix))
    )
  }

  /** Reads the newest events of the journal first, and an earlier page on each further call. */
  async function readEarlier(mine) {
    const query = new URLSearchParams(mine.address.query)
    if (mine.oldest !== undefined) query.set('before', mine.oldest)
    query.set('order', 'desc')
    query.set('limit', String(historyRows))
    const response = await request(mine.address.path, { query, token, signal: mine.controller.signal })
    const { events = [], cursor, end } = await response.json()
    if (mine.controller.signal.aborted) return
    if (mine.oldest === undefined) mine.shown = new Set(events.map(keyOf))
    mine.oldest = cursor
    const room = maxRows - rows.length
    const matching = events.filter((event) => matchesFilter(mine.filter, event)).slice(0, room)
    prepend(matching.reverse())
    at('earlier').hidden = end === true || rows.length >= maxRows
    showCount()
  }

  at('earlier').addEventListener('click', async () => {
    const button = at('earlier')
    button.disabled = true
    try {
      await readEarlier(following)
      button.textContent = 'Show earlier events'
    } catch (error) {
      button.textContent = `Try again (${escapeText(error instanceof Error ? error.message : '', 80)})`
    } finally {
      button.disabled = false
    }
  })

  // -- The list.

  function clear() {
    rows = []
    waiting = []
    unseen = 0
    total = 0
    atEnd = true
    list.replaceChildren()
    following.oldest = undefined
    at('earlier').hidden = true
    choose(undefined)
    showCount()
  }

  function rowOf(event) {
    const element = document.createElement('div')
    element.className = 'row'
    element.setAttribute('role', 'option')
    element.setAttribute('aria-selected', 'false')
    total += 1
    element.id = `row-${total}`
    element.dataset.family = familyOf(event.type)
    element.dataset.tone = toneOf(event)
    const cells = {
      time: clockOf(event.time),
      seq: event.seq === undefined ? '' : String(event.seq),
      type: escapeText(String(event.type), 40),
      text: summaryOf(event),
    }
    for (const [name, text] of Object.entries(cells)) {
      const cell = document.createElement('span')
      cell.className = name
      cell.textContent = text
      element.append(cell)
    }
    if (at('sandbox').value === 'all') {
      const from = document.createElement('span')
      from.className = 'from'
      from.textContent = escapeText(String(event.journal), 24)
      element.lastChild.prepend(from, ' ')
    }
    return { element, event }
  }

  function clockOf(time) {
    const date = new Date(time)
    if (time === undefined || Number.isNaN(date.getTime())) return ''
    const two = (number) => String(number).padStart(2, '0')
    return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
  }

  function paint() {
    const fresh = waiting.map(rowOf)
    waiting = []
    rows.push(...fresh)
    list.append(...fresh.map(({ element }) => element))
    const removed = rows.splice(0, Math.max(0, rows.length - maxRows))
    for (const row of removed) {
      row.element.remove()
      if (row === selected) list.removeAttribute('aria-activedescendant')
    }
    if (removed.length > 0) at('earlier').hidden = true
    if (atEnd) toEnd()
    else unseen += fresh.length
    showCount()
  }

  function prepend(events) {
    const fresh = events.map(rowOf)
    const { scrollHeight, scrollTop } = list
    rows.unshift(...fresh)
    list.prepend(...fresh.map(({ element }) => element))
    if (atEnd) toEnd()
    else list.scrollTop = scrollTop + list.scrollHeight - scrollHeight
  }

  function toEnd() {
    list.scrollTop = list.scrollHeight
    unseen = 0
    atEnd = true
  }

  function showCount() {
    const count = rows.length
    at('count').textContent =
      count >= maxRows
        ? `the newest ${maxRows.toLocaleString('en')} events`
        : `${count} event${count === 1 ? '' : 's'}`
    at('empty').hidden = count > 0 || following.oldest === undefined
    at('empty').textContent =
      at('filter').value.trim() === '' ? 'No events yet.' : 'No events match the filter.'
    at('newest').hidden = atEnd
    at('newest').textContent = unseen > 0 ? `${unseen} new ↓` : 'Newest ↓'
  }

  list.addEventListener('scroll', () => {
    atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 32
    if (atEnd) unseen = 0
    showCount()
  })
  at('newest').addEventListener('click', () => {
    toEnd()
    showCount()
    list.focus()
  })

  // -- One event.

  function choose(row) {
    selected?.element.setAttribute('aria-selected', 'false')
    selected = row
    at('detail').hidden = row === undefined
    if (row === undefined) return list.removeAttribute('aria-activedescendant')
    row.element.setAttribute('aria-selected', 'true')
    list.setAttribute('aria-activedescendant', row.element.id)
    const { seq, type } = row.event
    at('detail-title').textContent = joined(
      escapeText(String(type), 40),
      seq === undefined ? undefined : `#${seq}`,
    )
    showJson(row.event)
    row.element.scrollIntoView({ block: 'nearest' })
  }

  function showJson(event) {
    const whole = escapeLines(JSON.stringify(event, null, 2))
    const text =
      whole.length > 200_000
        ? `${whole.slice(0, 200_000)}\n… ${whole.length - 200_000} more characters`
        : whole
    // Splits the JSON at keys, strings and literals; the text between them is not highlighted.
    const parts =
      text.length > 50_000 ? [text] : text.split(/("(?:[^"\\\n]|\\.)*"(?:: )?|\b(?:true|false|null)\b)/)
    at('json').replaceChildren(
      ...parts.map((part, index) => {
        if (index % 2 === 0) return document.createTextNode(part)
        const span = document.createElement('span')
        span.className = part.endsWith(': ') ? 'key' : part.startsWith('"') ? 'string' : 'word'
        span.textContent = part
        return span
      }),
    )
    at('json').scrollTop = 0
  }

  list.addEventListener('click', ({ target }) => {
    const element = target.closest('.row')
    const row = rows.find((one) => one.element === element)
    if (row !== undefined) choose(row)
  })
  at('close').addEventListener('click', () => {
    choose(undefined)
    list.focus()
  })

  // Not every browser makes a scrollable element focusable by keyboard.
  at('json').tabIndex = 0

  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -maxRows, End: maxRows }
  list.addEventListener('keydown', (event) => {
    const step = steps[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return
    event.preventDefault()
    const from = selected === undefined ? rows.length : rows.indexOf(selected)
    choose(rows[Math.max(0, Math.min(rows.length - 1, from + step))])
    if (event.key === 'End') toEnd()
  })
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && selected !== undefined && !at('entry').open) {
      choose(undefined)
      list.focus()
    }
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')
    if (event.key !== '/' || isTyping || at('entry').open) return
    event.preventDefault()
    at('filter').focus()
  })

  // -- The filter and the sandbox.

  let typing
  at('filter').addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(subscribe, 250)
  })
  at('sandbox').addEventListener('change', subscribe)
  at('sandbox').addEventListener('focus', () => listSandboxes().catch(() => {}))

  subscribe()
}

if (typeof document !== 'undefined') start()
