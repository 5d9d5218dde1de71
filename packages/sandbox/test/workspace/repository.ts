import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { folder } from './prepared.ts'

export interface Repository {
  /** The folder with the repository and the git configuration that trusts it, to be bound into a sandbox. */
  readonly place: string
  readonly path: string
  readonly first: string
  readonly env: Readonly<Record<string, string>>
}

/** A bare repository with two commits on `main`, a branch `other` and a tag `v1` on the first commit. */
export function makeRepository(): Repository {
  const place = folder()
  chmodSync(place, 0o755)
  const work = join(place, 'work')
  const path = join(place, 'repo.git')
  mkdirSync(work)
  const config = join(place, 'gitconfig')
  // In the sandbox, the repository's owner is unknown.
  writeFileSync(config, '[safe]\n\tdirectory = *\n[user]\n\tname = x\n\temail = x@example.org\n')
  const env = { GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: work, env: { ...process.env, ...env }, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main')
  const commit = (content: string) => {
    writeFileSync(join(work, 'file.txt'), content)
    git('add', '.')
    git('commit', '--quiet', '-m', content)
    return git('rev-parse', 'HEAD')
  }
  const first = commit('one')
  git('tag', 'v1')
  git('branch', 'other')
  commit('two')
  git('clone', '--quiet', '--bare', work, path)
  execFileSync('git', ['update-server-info'], { cwd: path, env: { ...process.env, ...env } })
  return { place, path, first, env }
}

export interface GitServer {
  readonly port: number
  /** The Authorization header of each request that had one. */
  readonly authorizations: readonly string[]
}

/** Serves a bare repository as plain files to clients with the password. `deny` is an error that it sends nevertheless. */
export async function serveRepository(
  { path }: Repository,
  password: string,
  deny?: (authorization: string) => string,
): Promise<GitServer> {
  const authorizations: string[] = []
  const server = createServer((request, response) => {
    const { authorization } = request.headers
    if (authorization !== undefined) authorizations.push(authorization)
    const given = Buffer.from(authorization?.replace(/^Basic /, '') ?? '', 'base64').toString()
    if (authorization === undefined || !given.endsWith(`:${password}`)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      return
    }
    if (deny !== undefined) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(deny(authorization))
      return
    }
    try {
      response.end(
        readFileSync(join(path, new URL(request.url ?? '/', 'http://x').pathname.replace('/repo.git', ''))),
      )
    } catch {
      response.writeHead(404).end()
    }
  })
  return { port: await listen(server), authorizations }
}

/** A server that redirects every request. */
export async function redirectTo(place: string): Promise<{ readonly port: number; requests(): number }> {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    response.writeHead(302, { location: `${place}${request.url}` }).end()
  })
  return { port: await listen(server), requests: () => requests }
}

/** A server without any repository. */
export async function serveNothing(): Promise<{ readonly port: number }> {
  return {
    port: await listen(createServer((_, response) => response.writeHead(404).end('<h1>Not Found</h1>'))),
  }
}

/** A server that answers every request with the same content. */
export async function serveContent(type: string, content: string): Promise<{ readonly port: number }> {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': type }).end(content))
  return { port: await listen(server) }
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((closed) => server.close(closed))
  return port
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
