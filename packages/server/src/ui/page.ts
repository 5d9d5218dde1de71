import { readFileSync } from 'node:fs'
import { toProblem, VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import { pageHeaders } from '../guard/headers.ts'
import { HttpResponse } from '../http/http-response.ts'
import { problemResponse } from '../responses/problem.ts'

const files: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/ui/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/ui/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/ui/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
}

/** Serves the daemon's page. It needs no token: the page reads the token from the URL fragment, which is not sent. */
export function page(path: string, method: string): HttpResponse {
  if (path === '/' || path === '/ui') return new HttpResponse(302, { ...pageHeaders, location: '/ui/' }, null)
  const file = files[path]
  if (file === undefined || (method !== 'GET' && method !== 'HEAD'))
    return problemResponse(toProblem(new VitrineError('route_unknown', `There is no page ${shown(path)}.`)))
  const content = readFileSync(new URL(`../../ui/${file.name}`, import.meta.url))
  return new HttpResponse(200, { ...pageHeaders, 'content-type': file.type }, content)
}
