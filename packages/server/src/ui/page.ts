import { readFileSync } from 'node:fs'
import { VitrineError } from '@vitrine/protocol'
import { problemResponse } from '../answers/problem.ts'
import { pageHeaders } from '../guard/headers.ts'

const files: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/ui/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/ui/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/ui/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
}

/** The first page of the daemon. It needs no token to be seen: the token is in the fragment, which no server gets. */
export function page(path: string, method: string): Response {
  if (path === '/' || path === '/ui')
    return new Response(null, { status: 302, headers: { ...pageHeaders, location: '/ui/' } })
  const file = files[path]
  if (file === undefined || (method !== 'GET' && method !== 'HEAD'))
    return problemResponse(new VitrineError('route_unknown', 'There is no such page.'))
  const content = readFileSync(new URL(`../../ui/${file.name}`, import.meta.url))
  return new Response(content, { headers: { ...pageHeaders, 'content-type': file.type } })
}
