import {
  type ContentBlock,
  isGap,
  isVitrineError,
  type JournalEvent,
  type JournalItem,
  type MatchedEvent,
  type MatchedItem,
  matchTypes,
  newId,
  type PendingPermission,
  type PendingQuestion,
  type PermissionAnswer,
  type PromptOptions,
  type PromptResult,
  type QuestionAnswer,
  type Session,
  type SessionEventsOptions,
  type SessionInfo,
  type SessionListenerOptions,
  type SessionStreamOptions,
  type StreamPiece,
} from '@vitrine/protocol'
import { type Listener, notify, type ObserverErrors, PullIterator } from '@vitrine/protocol/primitives'
import type { Transcript } from '@vitrine/views'
import type { HttpClient } from '../http/http-client.ts'
import { checkedTypes, checkKeys } from '../http/options.ts'
import { requestJson, requestVoid } from '../http/request.ts'
import { tail } from '../journal/tail.ts'
import { cancelledStream, RemoteSessionStream } from './remote-session-stream.ts'
import { runTurn } from './run-turn.ts'
import { changesSession, closedState, type SessionState, withoutAnswered } from './session-state.ts'
import { SessionWatch } from './session-watch.ts'

/** One conversation with an agent at a daemon. Its fields show the state that was last received. */
export class RemoteSession implements Session {
  readonly id: string
  readonly agent: string
  readonly #sandbox: HttpClient
  readonly #http: HttpClient
  readonly #watch: SessionWatch
  readonly #listeners = new Set<Listener<JournalEvent>>()
  readonly #observerErrors: ObserverErrors
  #state: SessionState

  /** `http` is scoped to the sandbox. */
  constructor(http: HttpClient, state: SessionState, observerErrors: ObserverErrors) {
    this.id = state.id
    this.agent = state.agent
    this.#sandbox = http
    this.#http = http.at('sessions', state.id)
    this.#watch = new SessionWatch(http, state.id, (item) => this.#onItem(item))
    this.#state = state
    this.#observerErrors = observerErrors
  }

  get info(): SessionInfo {
    const { permissions: _permissions, questions: _questions, ...info } = this.#state
    return info
  }

  get permissions(): readonly PendingPermission[] {
    return this.#state.permissions
  }

  get questions(): readonly PendingQuestion[] {
    return this.#state.questions
  }

  async prompt(
    content: string | readonly ContentBlock[],
    { signal, turn = newId('turn'), ...rest }: PromptOptions = {},
  ): Promise<PromptResult> {
    if (signal?.aborted) return { turn, outcome: 'cancelled' }
    const release = this.#watch.use()
    const onAccepted = () => this.#setBusy()
    try {
      // Listeners answer the agent's requests, so the watch must be open before the agent can make one.
      await this.#watch.ready()
      return await runTurn(this.#http, { turn, prompt: content, rest, signal, onAccepted })
    } finally {
      release()
      await this.#refresh()
    }
  }

  stream(
    content: string | readonly ContentBlock[],
    { signal, turn = newId('turn'), after, ...rest }: SessionStreamOptions = {},
  ): AsyncIterableIterator<StreamPiece> {
    if (signal?.aborted) return new PullIterator(cancelledStream(turn))
    const request = { turn, prompt: content, rest, signal, after, onAccepted: () => this.#setBusy() }
    return new PullIterator(
      new RemoteSessionStream(this.#http, { ...request, onChange: () => this.#refresh() }),
    )
  }

  async cancel(): Promise<void> {
    await requestVoid(this.#http, { method: 'POST', path: ['cancel'], json: {} })
    await this.#refresh()
  }

  onEvent<const Pattern extends string = string>(
    listener: (event: MatchedEvent<Pattern>) => void,
    options?: SessionListenerOptions<Pattern>,
  ): () => void
  onEvent(listener: (event: JournalEvent) => void, options: SessionListenerOptions = {}): () => void {
    checkKeys('session.onEvent', options, { types: true })
    const matches = matchTypes(checkedTypes('session.onEvent', options.types))
    // Wrapped, so that the same function can be added twice.
    const own = (event: JournalEvent) => (matches(event.type) ? listener(event) : undefined)
    const release = this.#watch.use()
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
      release()
    }
  }

  events<const Pattern extends string = string>(
    options?: SessionEventsOptions<Pattern>,
  ): AsyncIterableIterator<MatchedItem<Pattern>>
  events(options: SessionEventsOptions = {}): AsyncIterableIterator<JournalItem> {
    return tail(this.#sandbox, { ...options, session: this.id })
  }

  transcript(): Promise<Transcript> {
    return requestJson(this.#http, { path: ['transcript'] })
  }

  setMode(mode: string): Promise<void> {
    return this.#setOption(['mode'], mode)
  }

  setModel(model: string): Promise<void> {
    return this.#setOption(['model'], model)
  }

  setThoughtLevel(level: string): Promise<void> {
    return this.#setOption(['thought-level'], level)
  }

  setConfigOption(id: string, value: string | boolean): Promise<void> {
    return this.#setOption(['options', id], value)
  }

  async respondPermission(permission: string, answer: PermissionAnswer): Promise<void> {
    await requestVoid(this.#http, { method: 'POST', path: ['permissions', permission], json: { answer } })
    this.#state = withoutAnswered(this.#state, permission)
  }

  async respondQuestion(question: string, answer: QuestionAnswer): Promise<void> {
    await requestVoid(this.#http, { method: 'POST', path: ['questions', question], json: answer })
    this.#state = withoutAnswered(this.#state, question)
  }

  async close(): Promise<void> {
    await requestVoid(this.#http, { method: 'DELETE', path: [] })
    this.#state = closedState(this.#state)
  }

  async fork(options: { readonly id?: string } = {}): Promise<RemoteSession> {
    const state = await requestJson<SessionState>(this.#http, {
      method: 'POST',
      path: ['fork'],
      json: options,
    })
    return new RemoteSession(this.#sandbox, state, this.#observerErrors)
  }

  async #setOption(path: readonly string[], value: string | boolean): Promise<void> {
    this.#state = await requestJson<SessionState>(this.#http, { method: 'PUT', path, json: { value } })
  }

  #setBusy(): void {
    this.#state = { ...this.#state, busy: true }
  }

  async #onItem(item: JournalItem): Promise<void> {
    // Refresh first, so that a listener finds the permission of its event in `permissions`.
    if (isGap(item) || changesSession(item.type)) await this.#refresh()
    if (isGap(item)) return
    notify(this.#listeners, item, (error) => this.#observerErrors.report('session.onEvent', error, item))
  }

  /** Fetches the state; keeps the old one if the request fails. */
  async #refresh(): Promise<void> {
    try {
      this.#state = await requestJson<SessionState>(this.#http, { path: [], query: { live: true } })
    } catch (error) {
      const isGone = isVitrineError(error) && ['session_closed', 'session_not_found'].includes(error.code)
      if (isGone) this.#state = closedState(this.#state)
    }
  }
}
