/** The HTTP API as data: every route with the schemas of its parameters, body and response. */
import { eventRoutes } from './events.ts'
import { fileRoutes } from './files.ts'
import { journalRoutes } from './journal.ts'
import { processRoutes } from './processes.ts'
import { sandboxRoutes } from './sandboxes.ts'
import { sessionRoutes } from './sessions.ts'

export { components } from '../component.ts'
export { execRequest } from './processes.ts'
export { json } from './responses/json.ts'
export { problem } from './responses/problem.ts'
export { isSocketRoute, type Media, pathsOf, type Route } from './route.ts'
export { sandboxLabels } from './sandboxes.ts'
export { eventRoutes, fileRoutes, journalRoutes, processRoutes, sandboxRoutes, sessionRoutes }

export const routes = {
  ...sandboxRoutes,
  ...eventRoutes,
  ...journalRoutes,
  ...processRoutes,
  ...fileRoutes,
  ...sessionRoutes,
}

export type Routes = typeof routes
export type RouteName = keyof Routes
