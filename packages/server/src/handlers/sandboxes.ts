import type { HostAttachOptions, HostCreateOptions, HostSandbox } from '@vitrine/host'
import { type EncodedBytes, VitrineError, type WorkspaceManifest } from '@vitrine/protocol'
import { sandboxLabels, type sandboxRoutes } from '@vitrine/protocol/http'
import { parseAs } from '@vitrine/protocol/options'
import { decodedManifest, shown } from '@vitrine/protocol/primitives'
import type { Daemon } from '../daemon/daemon.ts'
import { streamResponse } from '../responses/bytes.ts'
import { slicedJsonResponse } from '../responses/sliced-json.ts'
import type { HandlersOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { parseJson } from '../routing/parse-json.ts'

export function sandboxHandlers(daemon: Daemon): HandlersOf<typeof sandboxRoutes> {
  const { host, defaultSandbox } = daemon
  const infoOf = (id: string) => {
    const info = host.info(id)
    if (info === undefined) throw new VitrineError('not_found', `There is no sandbox ${id}.`)
    return info
  }
  const describe = ({ id, root, capabilities }: HostSandbox) => ({ ...infoOf(id), root, capabilities })
  return {
    async health() {
      return { status: 'ok', version: daemon.version }
    },
    async cancelCall({ params, caller }) {
      await daemon.calls.cancel(params.call, caller.name)
    },
    async listSandboxes({ query }) {
      const { labels, ...rest } = query
      const filter = { ...omitUndefined(rest), ...(labels !== undefined && { labels: labelsOf(labels) }) }
      return slicedJsonResponse(200, { sandboxes: await host.list(filter), default: defaultSandbox.id })
    },
    async createSandbox({ body, signal, context }) {
      const { workspace, ...rest } = body
      const options = {
        ...omitUndefined(rest),
        ...(workspace && { workspace: decoded(workspace as WorkspaceManifest<string | EncodedBytes>) }),
        signal: signal(),
      } as HostCreateOptions
      return describe(await host.create(options, context()))
    },
    async getSandbox({ params, query }) {
      const info = infoOf(params.sandbox)
      return query.disk ? host.withDiskBytes(info) : info
    },
    async attachSandbox(call) {
      const id = call.params.sandbox
      if (id === defaultSandbox.id) await defaultSandbox.open(call.context())
      const given = { ...omitUndefined(call.body ?? {}), signal: call.signal() } as HostAttachOptions
      return describe(await host.attach(id, given, call.context()))
    },
    async startSandbox(call) {
      const sandbox = await call.sandbox()
      await sandbox.lifecycle.start()
      return describe(sandbox)
    },
    async pauseSandbox(call) {
      const sandbox = await call.sandbox()
      await sandbox.lifecycle.pause()
      return infoOf(sandbox.id)
    },
    async resumeSandbox(call) {
      const sandbox = await call.sandbox()
      await sandbox.lifecycle.resume()
      return infoOf(sandbox.id)
    },
    async stopSandbox(call) {
      const sandbox = await call.sandbox()
      await sandbox.lifecycle.stop()
      return infoOf(sandbox.id)
    },
    async shutdownSandbox(call) {
      const sandbox = await call.sandbox()
      await sandbox.lifecycle.shutdown()
      return infoOf(sandbox.id)
    },
    async destroySandbox({ params, context }) {
      await host.destroy(params.sandbox, context())
    },
    async pruneSandboxes({ body, context }) {
      return host.prune(omitUndefined(body), context())
    },
    async isRunning(call) {
      const sandbox = await call.runningSandbox()
      return { running: sandbox !== undefined && (await sandbox.lifecycle.running()) }
    },
    async onBeforeStop({ body, ...call }) {
      await (await call.sandbox()).lifecycle.onBeforeStop(body.command)
    },
    async skipOnPersist({ body, ...call }) {
      return { path: await (await call.sandbox()).lifecycle.skipOnPersist(body.path) }
    },
    async persistWorkspace(call) {
      const sandbox = await call.sandbox()
      return streamResponse(await sandbox.persist({ signal: call.signal() }), 'application/x-tar')
    },
    async hydrateWorkspace({ body, signal, ...call }) {
      const sandbox = await call.sandbox()
      return sandbox.hydrate(body ?? new Uint8Array(), { signal: signal() })
    },
    async listPorts({ query, ...call }) {
      const { ports } = query.live ? await call.sandbox() : await call.look()
      return { ports: await ports.list() }
    },
    async resolvePort({ params, query, signal, ...call }) {
      const { ports } = await call.sandbox()
      const port = portOf(params.port)
      return query.wait === undefined
        ? ports.resolve(port)
        : ports.waitFor(port, { timeoutMs: query.wait, signal: signal() })
    },
    async previewPort({ params, request, ...call }) {
      const sandbox = await call.sandbox()
      const port = portOf(params.port)
      await sandbox.ports.resolve(port)
      const { token } = daemon.previews.open(sandbox.id, port)
      const [, own = ''] = /:(\d+)$/.exec(request.host) ?? []
      const path = `/preview/${token}/`
      return { url: `${request.protocol}//${token}.localhost${own === '' ? '' : `:${own}`}/`, path, token }
    },
  }
}

/** The engine checks the range. */
function portOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new VitrineError(
    'argument_invalid',
    `port: expected a whole number from 1 to 65535, got ${shown(text)}.`,
  )
}

function decoded(workspace: WorkspaceManifest<string | EncodedBytes>): WorkspaceManifest {
  return decodedManifest(workspace, (text) => new Uint8Array(Buffer.from(text, 'base64')))
}

function labelsOf(text: string) {
  return parseAs('query.labels', sandboxLabels(), parseJson('query.labels', text))
}
