import type { ArchiveOptions, ArchiveScheme, FileOptions } from '@vitrine/protocol'
import type { fileRoutes } from '@vitrine/protocol/http'
import type { Daemon } from '../daemon/daemon.ts'
import { bytesResponse, readRange, streamResponse } from '../responses/bytes.ts'
import { slicedJsonResponse } from '../responses/sliced-json.ts'
import type { Call, HandlersOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { framesOf } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'

export function fileHandlers({ streams, closing, longReads }: Daemon): HandlersOf<typeof fileRoutes> {
  const filesOf = async (call: Pick<Call, 'sandbox'>) => (await call.sandbox()).files
  return {
    async readFile({ query, request, signal, ...call }) {
      const files = await filesOf(call)
      const { path, user, from, to } = query
      const options = fileOptions(user, signal())
      const header = request.header('range')
      if (header === undefined) {
        const body = await files.read(path, { ...options, ...omitUndefined({ from, to }) })
        return streamResponse(body, 'application/octet-stream')
      }
      const { size, kind } = await files.stat(path, options)
      // A link's own size is not that of its target; a response with the whole file is always correct.
      const range = kind === 'symlink' ? undefined : readRange(header, size)
      const body = await files.read(path, { ...options, ...(range && { from: range.start, to: range.end }) })
      // Without a range no length is sent: the file may grow while it is read.
      return range === undefined
        ? streamResponse(body, 'application/octet-stream')
        : bytesResponse(body, size, range)
    },
    async writeFile({ query, body, signal, ...call }) {
      const { path, append, parents, mode, user } = query
      return (await filesOf(call)).write(path, body ?? new Uint8Array(), {
        ...fileOptions(user, signal()),
        ...omitUndefined({ append, parents, mode }),
      })
    },
    async listFiles({ query, signal, ...call }) {
      const { path, limit, user } = query
      return (await filesOf(call)).list(path, {
        ...fileOptions(user, signal()),
        ...(limit !== undefined && { limit }),
      })
    },
    async statFile({ query, signal, ...call }) {
      return (await filesOf(call)).stat(query.path, fileOptions(query.user, signal()))
    },
    async fileExists({ query, signal, ...call }) {
      return { exists: await (await filesOf(call)).exists(query.path, fileOptions(query.user, signal())) }
    },
    async makeDirectory({ body, signal, ...call }) {
      const { path, parents, mode, user } = body
      await (await filesOf(call)).mkdir(path, {
        ...fileOptions(user, signal()),
        ...omitUndefined({ parents, mode }),
      })
    },
    async moveFile({ body, signal, ...call }) {
      const { from, to, parents, user } = body
      await (await filesOf(call)).move(from, to, {
        ...fileOptions(user, signal()),
        ...(parents !== undefined && { parents }),
      })
    },
    async removeFile({ body, signal, ...call }) {
      const { path, recursive, force, user } = body
      await (await filesOf(call)).remove(path, {
        ...fileOptions(user, signal()),
        ...omitUndefined({ recursive, force }),
      })
    },
    async changeMode({ body, signal, ...call }) {
      await (await filesOf(call)).chmod(body.path, body.mode, fileOptions(body.user, signal()))
    },
    async searchFiles({ body, signal, ...call }) {
      const { path, user, ...options } = body
      return (await filesOf(call)).search(path, {
        ...fileOptions(user, signal()),
        ...omitUndefined(options),
      })
    },
    async listChangedFiles({ signal, caller, ...call }) {
      const { files } = await call.look()
      return longReads.run(caller.name, signal(), async () =>
        slicedJsonResponse(200, await files.changed({ signal: signal() })),
      )
    },
    async watchFiles({ query, signal, request, ...call }) {
      const files = await filesOf(call)
      const journal = await call.journal()
      const closed = new AbortController()
      const given = request.header('last-event-id') ?? query.after ?? 'now'
      const after = given === 'now' ? journal.cursor(journal.head) : given
      const events = files.watch({
        after,
        signal: AbortSignal.any([signal(), closed.signal]),
        ...(query.ignore && { ignore: query.ignore }),
      })
      return eventStream(
        framesOf(events, (event) => event, {
          close: () => closed.abort(),
          closing,
          cursors: { start: after, of: (event) => journal.cursor(event) },
        }),
        streams,
      )
    },
    async flushFiles(call) {
      await (await filesOf(call)).flush()
    },
    async downloadArchive({ query, signal, ...call }) {
      const { path, scheme = 'tar', user } = query
      const body = await (await filesOf(call)).download(path, {
        ...fileOptions(user, signal()),
        ...schemeOf(scheme),
      })
      return streamResponse(body, mediaTypes[scheme] ?? 'application/octet-stream')
    },
    async uploadArchive({ query, body, signal, ...call }) {
      const { path, scheme, user } = query
      return (await filesOf(call)).upload(path, body ?? new Uint8Array(), {
        ...fileOptions(user, signal()),
        ...schemeOf(scheme),
      })
    },
    async extractArchive({ query, body, request, signal, ...call }) {
      const { path, scheme, user } = query
      const hasArchive = request.header('content-type') !== undefined
      return (await filesOf(call)).extract(path, hasArchive ? (body ?? new Uint8Array()) : undefined, {
        ...fileOptions(user, signal()),
        ...schemeOf(scheme),
      })
    },
  }
}

const mediaTypes: Readonly<Record<string, string>> = {
  tar: 'application/x-tar',
  'tar.gz': 'application/gzip',
  'tar.zst': 'application/zstd',
  zip: 'application/zip',
}

/** The cast is unchecked: the engine rejects unknown schemes with its own message. */
function schemeOf(scheme: string | undefined): Pick<ArchiveOptions, 'scheme'> {
  return scheme === undefined ? {} : { scheme: scheme as ArchiveScheme }
}

function fileOptions(user: string | undefined, signal: AbortSignal): FileOptions {
  return user === undefined ? { signal } : { user, signal }
}
