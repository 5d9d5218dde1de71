import {
  isSocketRoute,
  pathsOf,
  type Route,
  type RouteName,
  type Routes,
  routes,
} from '@vitrine/protocol/http'
import type { Daemon } from '../daemon/daemon.ts'
import type { HandlersOf, SocketCall } from '../routing/call.ts'
import { RouteTrie } from '../routing/route-trie.ts'

/** A WebSocket route of the table, with its handler. */
export interface SocketRoute {
  readonly route: Route
  readonly serve: (call: SocketCall) => Promise<void>
  readonly count: (status: number) => void
}

/** The WebSocket routes by their paths. */
export function socketRoutes(daemon: Daemon, handlers: HandlersOf<Routes>): RouteTrie<SocketRoute> {
  const paths = new RouteTrie<SocketRoute>()
  for (const [name, route] of Object.entries<Route>(routes)) {
    if (!isSocketRoute(route)) continue
    // `HandlersOf` has checked the types; the cast erases the differences between the handlers.
    const serve = handlers[name as RouteName] as unknown as SocketRoute['serve']
    const count = daemon.metrics.counter(name)
    for (const path of pathsOf(route)) paths.at(path, () => ({ route, serve, count }))
  }
  return paths
}
